import { ProblemError } from '../../client/errors.js'

export const refusedKey = 'This key is not the shop’s. Open your link again.'

/** Returns a sentence that tells the merchant what went wrong. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof ProblemError))
    return 'The shop does not answer. Is it still running?'
  return error.status === 401 ? refusedKey : error.message
}
