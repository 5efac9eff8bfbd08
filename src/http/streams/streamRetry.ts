import { growingPause, keepTrying } from '../../core/keepTrying.js'
import { inTime } from '../../core/wait.js'
import { CursorAheadError, OrderNotFoundError } from '../../orders/index.js'
import { StoreError } from '../../store/errors.js'

/**
 * Milliseconds that one try may take. Without this limit, a request that was
 * lost on the way to the database would be waited for without end.
 */
const longestTry = 10_000

/** Shortest and longest pause between two tries, in milliseconds. */
const pauses = { shortest: 50, longest: 5_000 }

/**
 * Runs work until it succeeds, with a growing pause after each failure. Returns
 * `undefined` when the signal aborts.
 *
 * @throws {@link OrderNotFoundError} {@link CursorAheadError} {@link
 * StoreError} when another try cannot help, for example when the store is
 * closed.
 */
export async function retryUntil<result>(
  ended: AbortSignal,
  work: () => Promise<result>,
): Promise<result | undefined> {
  if (ended.aborted) return undefined
  const pauseAfter = (error: unknown, failures: number) =>
    isForGood(error) ? undefined : growingPause(failures, pauses)
  try {
    return await keepTrying(() => tryInTime(work()), pauseAfter, ended)
  } catch (error) {
    if (isForGood(error)) throw error
    return undefined
  }
}

/** Resolves with the result, or rejects when it takes too long. */
export function tryInTime<result>(work: Promise<result>): Promise<result> {
  return inTime(work, longestTry, () => {
    throw new StoreError('did not answer in time', true)
  })
}

function isForGood(error: unknown): boolean {
  return (
    error instanceof OrderNotFoundError ||
    error instanceof CursorAheadError ||
    (error instanceof StoreError && !error.retryable)
  )
}
