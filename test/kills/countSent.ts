import { getTransactionCount } from 'viem/actions'
import type { Stage } from './stage.js'

/** Transactions of the recipient's account, mined or also waiting. */
export function countSent(
  { chain, recipient: { address } }: Stage,
  blockTag: 'latest' | 'pending',
): Promise<number> {
  return getTransactionCount(chain.clients.public, { address, blockTag })
}
