import type { PageAssets } from './assets.js'

/**
 * The files of the payment page. Builds and tests replace this module with the
 * output of `scripts/bundlePages.ts` for the sources in `web`.
 */
export const payAssets: PageAssets = {
  script: '',
  style: '',
  imports: [],
  files: [],
}
