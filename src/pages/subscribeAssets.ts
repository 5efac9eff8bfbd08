import type { PageAssets } from './assets.js'

/**
 * The files of the page of a subscription. Builds and tests replace this module
 * with the output of `scripts/bundlePages.ts` for the sources in `web`.
 */
export const subscribeAssets: PageAssets = {
  script: '',
  style: '',
  imports: [],
  files: [],
}
