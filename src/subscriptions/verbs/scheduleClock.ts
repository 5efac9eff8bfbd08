import { isClockSet, type OrdersContext } from '../../orders/engine.js'

/** Estimates a chain's time without asking the node. */
export type ScheduleClock = {
  /**
   * Estimated Unix seconds of the newest block. Absent before the first call of
   * `set`.
   */
  time(): bigint | undefined
  /** True if the estimate cannot be trusted, so that the node must be asked. */
  isStale(): boolean
  /** Remembers the time of the newest block. */
  set(timestamp: bigint): void
}

/**
 * Milliseconds for which an estimate holds. After that, the node must be asked.
 */
const knownFor = 600_000

/**
 * Opens a clock that follows this machine's clock. If the newest block was
 * ahead of that, the clock stays as far ahead. If the chain's time is set by
 * hand (development chains, and `policy.chainClock: 'own'`), it can jump at any
 * moment, so its estimate is always stale.
 */
export function openScheduleClock(
  { now, policy }: Pick<OrdersContext, 'now' | 'policy'>,
  chainId: number,
): ScheduleClock {
  const isSet = isClockSet(policy, chainId)
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
