import { devChainIds } from '../../core/clock.js'
import type { SettledPolicy } from './types.js'

/** Milliseconds between two polls of a chain for which no order waits. */
const usuallyQuiet = 15_000

/**
 * Milliseconds between two polls while no order waits for the chain. A
 * development chain is by default polled as often as a busy one, so that a
 * developer does not wait.
 *
 * @param interval milliseconds between two polls while an order waits.
 */
export function quietIntervalOf(
  { pollingInterval, quietInterval }: SettledPolicy,
  { chainId, interval }: { chainId: number; interval: number },
): number {
  const usual = devChainIds.includes(chainId) ? interval : usuallyQuiet
  return Math.max(interval, quietInterval ?? pollingInterval ?? usual)
}
