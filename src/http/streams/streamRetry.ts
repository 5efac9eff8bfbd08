import { wait } from '../../core/wait.js'
import {
  CursorAheadError,
  OrderNotFoundError,
} from '../../orders/model/errors.js'
import { StoreError } from '../../store/errors.js'

/** Milliseconds for one try, because a lost request never answers. */
const longestTry = 10_000

/**
 * Tries until it succeeds, ever more slowly; nothing once the signal aborts.
 *
 * @throws {@link OrderNotFoundError} {@link CursorAheadError} {@link StoreError}
 * which no other try would change, as of a store that is closed.
 */
export async function retryUntil<result>(
  ended: AbortSignal,
  work: () => Promise<result>,
): Promise<result | undefined> {
  for (let failures = 0; !ended.aborted; failures++)
    try {
      return await answerInTime(work())
    } catch (error) {
      if (isForGood(error)) throw error
      await wait(Math.min(5_000, 50 * 2 ** failures), ended)
    }
  return undefined
}

/** Resolves with the result, or rejects when it takes too long. */
export function answerInTime<result>(work: Promise<result>): Promise<result> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new StoreError('did not answer in time', true))
    const timer = setTimeout(late, longestTry)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function isForGood(error: unknown): boolean {
  return (
    error instanceof OrderNotFoundError ||
    error instanceof CursorAheadError ||
    (error instanceof StoreError && !error.retryable)
  )
}
