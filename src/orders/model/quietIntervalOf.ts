import { devChainIds } from '../../core/clock.js'
import type { SettledPolicy } from './types.js'

/** Milliseconds between two looks at a quiet chain. */
const usuallyQuiet = 15_000

/**
 * Milliseconds between two looks while nothing waits for the chain. A
 * development chain is never quiet by default, so that a developer does not
 * wait for it.
 *
 * @param interval milliseconds between two looks while something waits.
 */
export function quietIntervalOf(
  { pollingInterval, quietInterval }: SettledPolicy,
  { chainId, interval }: { chainId: number; interval: number },
): number {
  const usual = devChainIds.includes(chainId) ? interval : usuallyQuiet
  return Math.max(interval, quietInterval ?? pollingInterval ?? usual)
}
