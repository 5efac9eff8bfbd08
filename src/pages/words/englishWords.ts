import { englishPaymentWords } from './englishPaymentWords.js'
import { englishSubscriptionWords } from './englishSubscriptionWords.js'

/** All members in one place, as the site shows them. */
type EnglishWords = Flat<
  typeof englishPaymentWords & typeof englishSubscriptionWords
>

type Flat<words> = { readonly [name in keyof words]: words[name] }

/** The texts of the payment page in English, to change some of them. */
export const englishWords: EnglishWords = {
  ...englishPaymentWords,
  ...englishSubscriptionWords,
}
