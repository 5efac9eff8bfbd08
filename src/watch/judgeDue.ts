import type { Address } from 'viem'
import type { Watch } from '../forks/checkReorg.js'
import { findOpen } from '../forks/findOpen.js'
import {
  findEvidence,
  lastSecondOf,
  type OrderAttempt,
} from '../ledger/findEvidence.js'
import type { Evidence } from '../ledger/settleOrder.js'
import { observeFailure } from '../records/observeFailure.js'
import type { OrdersContext } from '../records/types.js'
import type { OrderRecord } from '../store/types.js'

/** What one look knows when it judges what is due. */
export type DueWatch = Watch & {
  /** Payments of drafts without a payer are on record up to the head. */
  isSeen: boolean
}

/** Whose nonce it is, where that is known. */
export function payerOf({ order, attempt }: OrderAttempt): Address | undefined {
  return attempt.payer ?? order.payer
}

type Judged = { order: OrderRecord; evidence: Evidence | undefined }

/**
 * What the chain says about orders that are due for a look, in at most two
 * blocks for all, each named by its number: the head, and the final one.
 *
 * @throws {@link UnsupportedTokenError} when the token has no such state.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function judgeDue(
  context: OrdersContext,
  { client, scope, heads: { latest, finalized }, isSeen }: DueWatch,
  due: readonly OrderAttempt[],
): Promise<Judged[]> {
  const isOver = (file: OrderAttempt, time: bigint) =>
    lastSecondOf(file.attempt) <= time
  const over = due.filter((file) => isOver(file, latest.timestamp))
  const [now, before] = await Promise.all([
    findOpen(client, scope, over, latest.number),
    finalized &&
      findOpen(
        client,
        scope,
        over.filter((file) => isOver(file, finalized.timestamp)),
        finalized.number,
      ),
  ])
  const judge = async (file: OrderAttempt): Promise<Evidence | undefined> => {
    const { order, attempt } = file
    const { nonce } = attempt
    const { number: block, timestamp } = latest
    if (now.spent.has(nonce))
      // One order that cannot be explained must not keep the others waiting.
      return findEvidence(client, { ...file, block }).catch((error) => {
        const about = { ...scope, orderId: order.id }
        observeFailure(context, 'watch.failed', { about, error })
        return undefined
      })
    // Without a payer there is nobody whose nonce could have been spent.
    if (!payerOf(file))
      return isSeen ? expiredAt(block, timestamp, true) : undefined
    const finalTime = before?.unused.get(nonce)
    if (finalized && finalTime !== undefined && isOver(file, finalTime))
      return expiredAt(finalized.number, finalTime, true)
    const time = now.unused.get(nonce)
    return time !== undefined && isOver(file, time)
      ? expiredAt(block, time, false)
      : undefined
  }
  return Promise.all(
    due.map(async (file) => ({
      order: file.order,
      evidence: over.includes(file) ? await judge(file) : undefined,
    })),
  )
}

function expiredAt(
  blockNumber: bigint,
  blockTime: bigint,
  final: boolean,
): Evidence {
  return { kind: 'expired', blockNumber, blockTime, final }
}
