import { ProblemError } from 'countersign/client'

export const refusedKey =
  'This key is not the shop’s. Open the link from the terminal again.'

/** What went wrong, in a sentence a merchant can read. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof ProblemError))
    return 'The shop does not answer. Is it still running?'
  return error.status === 401 ? refusedKey : error.message
}
