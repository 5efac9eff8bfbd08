import { wait } from './wait.js'

/**
 * Repeats work until it succeeds. After each failure, `pauseAfter` returns the
 * milliseconds until the next try, or `undefined` to stop trying.
 *
 * @throws the last failure, when `pauseAfter` returns `undefined` or the signal
 * aborts.
 */
export async function keepTrying<result>(
  work: () => Promise<result>,
  pauseAfter: (error: unknown, failures: number) => number | undefined,
  signal?: AbortSignal | undefined,
): Promise<result> {
  for (let failures = 1; ; failures++)
    try {
      return await work()
    } catch (error) {
      const pause = pauseAfter(error, failures)
      if (pause === undefined) throw error
      if (pause > 0) await wait(pause, signal)
      if (signal?.aborted) throw error
    }
}

/**
 * Returns a pause in milliseconds that doubles with each failure in a row, up
 * to a limit.
 */
export function growingPause(
  failures: number,
  { shortest, longest }: { shortest: number; longest: number },
): number {
  return Math.min(longest, shortest * 2 ** (failures - 1))
}
