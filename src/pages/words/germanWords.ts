import { germanPaymentWords } from './germanPaymentWords.js'
import { germanSubscriptionWords } from './germanSubscriptionWords.js'
import type { PageWords } from './types.js'

/** The texts of the payment page in German, to change some of them. */
export const germanWords: PageWords = {
  ...germanPaymentWords,
  ...germanSubscriptionWords,
}
