import type { englishPaymentWords } from './englishPaymentWords.js'
import type { englishWords } from './englishWords.js'

/**
 * Every text of the payment page in one language. A name in braces, such as
 * `{amount}`, is replaced by its value; keep it in your text.
 */
export type PageWords = { readonly [name in keyof typeof englishWords]: string }

/** The texts that payments need; subscriptions need all. */
export type PaymentWords = Pick<PageWords, keyof typeof englishPaymentWords>
