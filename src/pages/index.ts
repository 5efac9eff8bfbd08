export { createPages } from './createPages.js'
export { createPaywall } from './createPaywall.js'
export type {
  Pages,
  PagesParameters,
  PayUrlParameters,
  PaywallParameters,
  SubscribeUrlParameters,
} from './types.js'
export { englishWords } from './words/englishWords.js'
export { germanWords } from './words/germanWords.js'
export type { PageWords } from './words/types.js'
