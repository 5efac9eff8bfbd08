import type { DevChain } from 'countersign/devchain'
import { createWalletClient, http, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { writeContract } from 'viem/actions'
import { mined, newAccount } from './desk.js'

/** Moves tokens of a payer to somebody else, in a plain transfer. */
export async function moveTokens(
  chain: DevChain,
  payer: PrivateKeyAccount,
  value: bigint,
): Promise<void> {
  const wallet = createWalletClient({
    account: payer,
    chain: chain.chain,
    transport: http(),
  })
  await mined(
    chain,
    writeContract(wallet, {
      address: chain.token,
      abi: parseAbi(['function transfer(address to, uint256 value)']),
      functionName: 'transfer',
      args: [newAccount().address, value],
    }),
  )
}
