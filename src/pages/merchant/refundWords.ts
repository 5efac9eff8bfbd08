import type { RefundReason, RefundState } from '../../orders/index.js'
import type { Tone } from '../ui/states.js'
import { reasonWords } from './reasonWords.js'

type RefundStateWords = {
  label: string
  tone: Tone
  isBusy?: boolean | undefined
}

export const refundStateWords: Record<RefundState, RefundStateWords> = {
  requested: { label: 'Refund requested', tone: 'accent', isBusy: true },
  sending: { label: 'Refund sent', tone: 'accent', isBusy: true },
  succeeded: { label: 'Refunded', tone: 'good' },
  failed: { label: 'Refund failed', tone: 'bad' },
  canceled: { label: 'Refund canceled', tone: 'warn' },
}

export const refundReasonWords: Record<RefundReason, string> = {
  requestedByCustomer: 'Requested by the customer',
  duplicate: 'Paid twice',
  fraudulent: 'Fraudulent',
}

/** Reasons that mean something else for a refund than for a capture. */
const words: Readonly<Record<string, string>> = {
  insufficientFunds: 'your account does not hold enough',
  payerBlocked: 'the token blocks the buyer’s account',
  expired: 'it was not sent in time',
  consumed: 'its payment nonce was used for something else',
  notCaptured: 'no payment of this order has arrived',
  unsupportedToken: 'the token has no signed transfers; pay it back by hand',
  exceedsCaptured: 'the amount is more than is left of the payment',
  refundConflict: 'you already requested it with another amount',
  refundLimit: 'it is more than this key may refund today',
  refundForbidden: 'this key may not refund',
  canceled: 'your account canceled it on the chain',
  reorged: 'the chain replaced its block; it is sent again',
}

/**
 * Returns the words for a refund's reason, or the reason itself if it has none.
 */
export function refundWords(reason: string): string {
  return words[reason] ?? reasonWords(reason)
}
