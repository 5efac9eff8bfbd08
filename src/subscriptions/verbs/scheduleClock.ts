import { devChainIds } from '../../core/clock.js'
import type { OrdersContext } from '../../orders/engine.js'

/** What a loop knows of a chain's clock without asking the node. */
export type ScheduleClock = {
  /**
   * Unix seconds that the chain has about now. Absent before the first look at
   * its heads.
   */
  time(): bigint | undefined
  /** True if only the node can say what time it is. */
  isStale(): boolean
  /** Remembers the time of the newest block. */
  set(timestamp: bigint): void
}

/** Milliseconds after which to compare the clocks again. */
const knownFor = 600_000

/**
 * Opens a clock that goes with this machine's, or as far ahead of it as the
 * chain was at the last look. Whoever sets the clock of a chain may do so at any
 * time, so the clock of such a chain is always stale.
 */
export function openScheduleClock(
  { now, policy }: Pick<OrdersContext, 'now' | 'policy'>,
  chainId: number,
): ScheduleClock {
  const isSet = policy.chainClock === 'own' || devChainIds.includes(chainId)
  let ahead: bigint | undefined
  let knownUntil = 0
  const wall = () => now() / 1000n
  return {
    time: () => (ahead === undefined ? undefined : wall() + ahead),
    isStale: () => isSet || performance.now() >= knownUntil,
    set: (timestamp) => {
      const lead = timestamp - wall()
      ahead = lead > 0n ? lead : 0n
      knownUntil = performance.now() + knownFor
    },
  }
}
