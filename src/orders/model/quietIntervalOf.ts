import { devChainIds } from '../../core/clock.js'
import type { SettledPolicy } from './types.js'

/**
 * Default milliseconds between two polls of a chain while no order waits for
 * it.
 */
const usuallyQuiet = 15_000

/**
 * Returns the milliseconds between two polls of a chain while no order waits
 * for it. A development chain is by default polled as often as a busy one, so
 * that a developer need not wait.
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
