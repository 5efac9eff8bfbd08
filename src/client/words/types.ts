import type { Answers } from '../../http/schemas/answerTypes.js'

/** What is said of one order, by where it is on its way. */
export type OrderPoint =
  | 'drafted'
  /** Drafted, for an amount that is known later. */
  | 'draftedCeiling'
  /** The buyer signed; the shop has not confirmed that it has the payment. */
  | 'signed'
  | 'stored'
  | 'capturing'
  | 'preconfirmed'
  | 'included'
  | 'safe'
  | 'finalized'
  | 'canceling'
  | 'canceled'
  | 'voided'
  | 'voidedUnsigned'
  | 'expired'
  | 'expiredSigned'
  | 'expiredUnsigned'
  | 'consumed'
  | 'refunding'
  | 'refundFailed'
  | 'partlyRefunded'
  | 'refunded'
  /** A state of a newer server. */
  | 'unknown'

/** The words of one point. An empty text is not shown. */
type PointWords = { state: string; detail: string; next: string }

/**
 * All words of one language. In the texts, `{amount}` stands for an amount with
 * its symbol, `{place}` for the blocks of refunds, and `{reason}` for one of
 * `reasons`.
 */
export type OrderWords = {
  /** The language of amounts, times and lists, for `Intl`, such as `en`. */
  locale: string
  buyer: Readonly<Record<OrderPoint, PointWords>>
  merchant: Readonly<Record<OrderPoint, PointWords>>
  /** The next step of a merchant's order that waits for something. */
  requested: Readonly<
    Record<NonNullable<Answers['Order']['requested']>, string>
  >
  /** The next step of a merchant's order that needs a person. */
  urgent: Readonly<Record<'unexpected' | 'overpaid' | 'needsReview', string>>
  /** Why a capture or cancellation did not happen, with `{reason}`. */
  because: string
  reasons: Readonly<Record<NonNullable<Answers['Order']['reason']>, string>>
  /** Where refunds are on chain, with `{blocks}`. */
  place: Readonly<Record<'one' | 'several', string>>
  /** What a time left, or the moment when it ended, is the time of. */
  deadlines: Readonly<
    Record<
      'buyer' | 'merchant',
      Readonly<Record<'sign' | 'capture' | 'signature' | 'over', string>>
    >
  >
}
