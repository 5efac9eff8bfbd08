import type { Address } from 'viem'
import { RequestRefusedError } from './routes/errors.js'

/** Runs the work. Refuses it while other work for the same recipients runs. */
export type OneAtATime = <result>(
  recipients: readonly Address[],
  work: () => Promise<result>,
) => Promise<result>

/**
 * Limits each principal to one comparison with the chain at a time. A
 * comparison sends many requests to nodes, and reloading the page would start
 * another while the first still runs.
 *
 * @throws {@link RequestRefusedError} while another one is running.
 */
export function oneAtATime(): OneAtATime {
  const running = new Set<string>()
  return async (recipients, work) => {
    const whose = recipients
      .map((recipient) => recipient.toLowerCase())
      .sort()
      .join()
    if (running.has(whose)) throw new RequestRefusedError('comparisonRunning')
    running.add(whose)
    try {
      return await work()
    } finally {
      running.delete(whose)
    }
  }
}
