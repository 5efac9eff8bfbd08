import type { DevChain } from 'countersign/devchain'
import { type Address, concatHex } from 'viem'
import { metamaskDelegate } from '../../../src/core/knownDelegates.js'
import { putBatches } from '../../../src/devchain/putBatches.js'

/**
 * Delegates an account to MetaMask's delegate without a transaction, and so
 * without using account nonces.
 */
export async function delegateByCode(
  { clients }: Pick<DevChain, 'clients'>,
  account: Address,
): Promise<void> {
  const { address } = metamaskDelegate
  const code = await clients.public.getCode({ address })
  if (!code) await putBatches(clients)
  const bytecode = concatHex(['0xef0100', address])
  await clients.test.setCode({ address: account, bytecode })
}
