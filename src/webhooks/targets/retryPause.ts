import { growingPause } from '../../core/keepTrying.js'

const pauses = { shortest: 2000, longest: 300_000 }
const longestWait = 3_600_000

/**
 * Returns the milliseconds until the next try. That is 1 to 2 seconds after the
 * first failure and twice as much after each further one, up to 5 minutes. A
 * receiver can ask for a longer pause, up to one hour.
 */
export function retryPause(
  failures: number,
  retryAfter = 0,
  random: () => number = Math.random,
): number {
  const most = growingPause(Math.max(1, failures), pauses)
  const backoff = most * (0.5 + random() / 2)
  return Math.max(backoff, Math.min(retryAfter, longestWait))
}
