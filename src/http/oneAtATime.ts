import type { Address } from 'viem'
import { RequestRefusedError } from './routes/errors.js'

/**
 * Runs the work, or refuses it while other work for the same recipients runs.
 */
export type OneAtATime = <result>(
  recipients: readonly Address[],
  work: () => Promise<result>,
) => Promise<result>

/**
 * Lets each merchant run one comparison of database and chain at a time. A
 * comparison sends many requests to nodes, and without this limit a reloaded
 * page would start another one.
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
