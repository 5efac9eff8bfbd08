import { ProblemError } from '../../client/errors.js'

export const refusedKey = 'This key is not the shop’s. Open your link again.'

/** What went wrong, in a sentence a merchant can read. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof ProblemError))
    return 'The shop does not answer. Is it still running?'
  return error.status === 401 ? refusedKey : error.message
}
