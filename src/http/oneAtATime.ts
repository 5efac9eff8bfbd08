import type { Address } from 'viem'
import { RequestRefusedError } from '../routes/errors.js'

/** Runs work for somebody who may have one such work under way. */
export type OneAtATime = <result>(
  recipients: readonly Address[],
  work: () => Promise<result>,
) => Promise<result>

/**
 * Lets each principal have one comparison with the chain at a time: it asks
 * nodes a lot, and lasts longer than a page that is loaded again.
 *
 * @throws {@link RequestRefusedError} while another one is under way.
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
