import { devChainIds } from '../../core/clock.js'
import type { SettledPolicy } from './types.js'

/**
 * Default milliseconds between two polls of a chain while no order waits for
 * it.
 */
const usuallyQuiet = 15_000

/**
 * Returns the milliseconds between two polls of a chain while no order waits
 * for it. A chain whose clock is set by hand is by default polled as often as a
 * busy one, so that a developer need not wait.
 *
 * @param interval milliseconds between two polls while an order waits.
 */
export function quietIntervalOf(
  policy: SettledPolicy,
  { chainId, interval }: { chainId: number; interval: number },
): number {
  const { pollingInterval, quietInterval } = policy
  const usual = isClockSet(policy, chainId) ? interval : usuallyQuiet
  return Math.max(interval, quietInterval ?? pollingInterval ?? usual)
}

/**
 * True for a chain whose time can jump at any moment: a development chain, or
 * one whose clock the merchant sets (`policy.chainClock: 'own'`).
 */
export function isClockSet(
  { chainClock }: Pick<SettledPolicy, 'chainClock'>,
  chainId: number,
): boolean {
  return chainClock === 'own' || devChainIds.includes(chainId)
}
