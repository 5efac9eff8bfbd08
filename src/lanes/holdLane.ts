import type { OrdersContext } from '../records/types.js'
import { wait } from '../rpc/wait.js'
import type { LaneState } from './laneState.js'
import { openLane } from './openLane.js'

/** Leases for which a worker that is slow, or hangs, keeps a lane. */
const mostLeases = 3

/**
 * Works on a lane whose lease is prolonged while the work takes longer than
 * usual, so that a slow node or wallet does not cost the lease. It is not
 * prolonged for ever: what hangs leaves the lane to others.
 */
export async function holdLane<result>(
  context: OrdersContext,
  lane: LaneState,
  work: () => Promise<result>,
): Promise<result> {
  const { lease } = context.policy
  const { wallet, aside } = lane
  const over = new AbortController()
  const end = performance.now() + longestTurn(context, lane)
  const prolong = async (): Promise<void> => {
    for (;;) {
      await wait(lease / 3, over.signal)
      if (over.signal.aborted || performance.now() > end) return
      const kept = await openLane(context, { wallet, lane, aside })
      if (kept !== lane) return
    }
  }
  // A store that does not answer shows in the work itself.
  const prolonging = prolong().catch(() => undefined)
  try {
    return await work()
  } finally {
    over.abort()
    await prolonging
  }
}

/** Milliseconds for which a lane is kept for one turn; people may be slow. */
function longestTurn(
  { policy: { lease, walletTimeout } }: Pick<OrdersContext, 'policy'>,
  { wallet }: Pick<LaneState, 'wallet'>,
): number {
  const isLocal = wallet.account.type === 'local'
  return isLocal ? mostLeases * lease : mostLeases * lease + walletTimeout
}
