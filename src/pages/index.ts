export { createPages } from './createPages.js'
export type { Pages, PagesParameters, PayUrlParameters } from './types.js'
export type { PageWords } from './words/types.js'
