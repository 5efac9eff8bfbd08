import { OrderNotFoundError } from '../records/errors.js'
import { wait } from '../rpc/wait.js'

/**
 * Tries until it succeeds, ever more slowly; nothing once the signal aborts.
 *
 * @throws {@link OrderNotFoundError} which no other try would change.
 */
export async function retryUntil<result>(
  ended: AbortSignal,
  work: () => Promise<result>,
): Promise<result | undefined> {
  for (let failures = 0; !ended.aborted; failures++)
    try {
      return await work()
    } catch (error) {
      if (error instanceof OrderNotFoundError) throw error
      await wait(Math.min(5_000, 50 * 2 ** failures), ended)
    }
  return undefined
}
