import type { DevChain } from 'countersign/devchain'
import type { Address, Hex } from 'viem'
import { sendTransaction } from 'viem/actions'
import { expect } from 'vitest'
import { fundedAccount } from './desk.js'

/**
 * Stops mining, waits until work has sent its transaction, and sends a call
 * that comes before it in the next block, because it pays more.
 *
 * @returns the work, which waits for that block.
 */
export async function frontRun<result>(
  chain: DevChain,
  { to, data }: { to: Address; data: Hex },
  work: () => Promise<result>,
): Promise<{ working: Promise<result> }> {
  const { test: node, public: client } = chain.clients
  const account = await fundedAccount(chain)
  await node.setAutomine(false)
  const working = work()
  await expect
    .poll(async () => (await node.getTxpoolStatus()).pending, {
      timeout: 60_000,
    })
    .toBe(1)
  await sendTransaction(client, {
    account,
    to,
    data,
    chain: chain.chain,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 5n * 10n ** 10n,
    gas: 200_000n,
  })
  return { working }
}

/** Mines what was sent, and mines at once again from then on. */
export async function mineSent(chain: DevChain, blocks = 1): Promise<void> {
  const { test: node } = chain.clients
  await node.mine({ blocks })
  await node.setAutomine(true)
}
