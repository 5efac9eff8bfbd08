import { englishPaymentWords } from './englishPaymentWords.js'
import { englishSubscriptionWords } from './englishSubscriptionWords.js'

/** The texts of the payment page in English, to change some of them. */
export const englishWords = {
  ...englishPaymentWords,
  ...englishSubscriptionWords,
} as const
