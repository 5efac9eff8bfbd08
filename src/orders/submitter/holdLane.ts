import { wait } from '../../core/wait.js'
import type { OrdersContext } from '../model/types.js'
import type { LaneState } from './laneState.js'
import { openLane } from './openLane.js'

/** The longest turn at a lane, as a multiple of the lease. */
const mostLeases = 3

/**
 * Does work on a lane and renews its lease meanwhile, so that a slow node or
 * wallet does not cost the lease. Stops renewing after a while, so that work
 * that hangs leaves the lane to others.
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
  // If the store fails, the work fails too and reports it.
  const prolonging = prolong().catch(() => undefined)
  try {
    return await work()
  } finally {
    over.abort()
    await prolonging
  }
}

/**
 * Most milliseconds of one turn; longer where a person confirms in a wallet.
 */
function longestTurn(
  { policy: { lease, walletTimeout } }: Pick<OrdersContext, 'policy'>,
  { wallet }: Pick<LaneState, 'wallet'>,
): number {
  const isLocal = wallet.account.type === 'local'
  return isLocal ? mostLeases * lease : mostLeases * lease + walletTimeout
}
