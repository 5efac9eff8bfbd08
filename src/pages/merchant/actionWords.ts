import { ProblemError } from '../../client/errors.js'
import type { OrderAction } from './OrderActions.js'
import { reasonWords } from './reasonWords.js'
import { refundWords } from './refundWords.js'
import { wordsOf } from './wordsOf.js'

export const failedWords: Record<OrderAction, string> = {
  capture: 'Not captured',
  void: 'Not voided',
  reauthorize: 'The buyer cannot be asked again',
  cancel: 'Not canceled',
  refund: 'Not refunded',
}

/** Says in a sentence why an action failed. */
export function sentenceOf(action: OrderAction, error: unknown): string {
  if (!(error instanceof ProblemError)) return wordsOf(error)
  const say = action === 'refund' ? refundWords : reasonWords
  const known = say(error.reason)
  return known === error.reason
    ? wordsOf(error)
    : `${known.charAt(0).toUpperCase()}${known.slice(1)}.`
}
