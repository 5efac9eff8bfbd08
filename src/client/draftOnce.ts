import type { Answers } from '../http/schemas/answerTypes.js'
import { type Asking, ask, type Pacing } from './ask.js'
import { ProblemError } from './errors.js'
import type { Line } from './line.js'

/** Milliseconds after which the server ends a request. */
const longestRequest = 30_000

/**
 * Node's error codes for a connection that was never opened. Then the server
 * did not get the request, and the next try need not wait.
 */
const neverSent: unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']

/**
 * Drafts an order. Each try makes the `buyerToken` of the try before invalid,
 * so tries must not overlap. If the server handled the older try last, the
 * client would have an invalid token.
 */
export async function draftOnce(
  line: Line,
  asking: Asking,
): Promise<Answers['DraftedOrder']> {
  let begun = 0
  const noted: Line = {
    ...line,
    fetch: (request) => {
      begun = performance.now()
      return line.fetch(request)
    },
  }
  const pacing: Pacing = (pause, failure) => {
    const isOver =
      failure instanceof ProblemError
        ? failure.reason !== 'timeout'
        : neverSent.includes(failure.details.code)
    const spacing = begun + longestRequest - performance.now()
    return isOver ? pause : Math.max(pause, spacing)
  }
  return ask(noted, asking, pacing)
}
