import { type DevChain, startDevChain } from 'countersign/devchain'
import { type Hash, keccak256, zeroHash } from 'viem'
import { type Asked, fakeNode } from './desk.js'

/** Blocks and pre-confirmations only on demand. */
export const startPending = () =>
  startDevChain({ preconfirmations: 'flashblocks', blockTime: 0, tick: 0 })

const invented: Hash = keccak256('0x01')

/**
 * A node whose receipts of the pending block name a block hash, as newer Geth
 * does.
 */
export function inventing(
  chain: DevChain,
  change: (receipt: Record<string, unknown>) => object = withHash,
) {
  return fakeNode(chain, async ({ method }: Asked, forward) => {
    const answer = await forward()
    return method === 'eth_getTransactionReceipt' && answer
      ? change(answer as Record<string, unknown>)
      : answer
  })
}

function withHash(receipt: Record<string, unknown>): object {
  return receipt.blockHash === zeroHash ? moved(receipt) : receipt
}

/** The receipt and its logs with the hash of a block that nobody has. */
export function moved(receipt: Record<string, unknown>): object {
  const logs = Array.from(Object(receipt).logs as object[], (log) => ({
    ...log,
    blockHash: invented,
  }))
  return { ...receipt, blockHash: invented, logs }
}
