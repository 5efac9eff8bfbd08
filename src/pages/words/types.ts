import type { englishWords } from './englishWords.js'

/**
 * Every text of the payment page in one language. A name in braces, such as
 * `{amount}`, is replaced by its value; keep it in your text.
 */
export type PageWords = { readonly [name in keyof typeof englishWords]: string }
