import type { OrdersContext } from '../model/types.js'
import { judgeNextNonce } from './judgeNextNonce.js'
import type { LaneState } from './laneState.js'
import type { LaneView } from './readLane.js'

/**
 * Sets the account nonce from which the lane sends next.
 *
 * @returns `false` while the nonce is unclear; then nothing is sent at this
 * look.
 */
export async function settleNextNonce(
  context: OrdersContext,
  lane: LaneState,
  view: LaneView,
): Promise<boolean> {
  const { next, claim } = judgeNextNonce(lane, view)
  lane.claim = claim
  const { nextNonce } = lane.value
  const isUnclear =
    next === undefined ||
    (next < nextNonce && (await wasUsed(context, lane, next)))
  if (isUnclear) {
    const { count, pendingCount } = view
    context.observe({
      name: 'lane.waits',
      attributes: {
        ...lane.wallet.lane,
        reason: 'nonceUnclear',
        nextNonce,
        count,
        pendingCount,
      },
    })
    return false
  }
  lane.value = { ...lane.value, nextNonce: next }
  return true
}

/**
 * True when a transaction is on record at the nonce, so the chain was there.
 */
async function wasUsed(
  { store }: OrdersContext,
  { wallet }: LaneState,
  nonce: number,
): Promise<boolean> {
  const rows = await store.read(({ transactions }) =>
    transactions.find({ at: wallet.lane, nonce }),
  )
  return rows.length > 0
}
