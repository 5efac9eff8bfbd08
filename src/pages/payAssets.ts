import type { PageAssets } from './assets.js'

/**
 * The files of the payment page. Builds and tests replace this module by what
 * `scripts/bundlePages.ts` makes of the sources in `web`.
 */
export const payAssets: PageAssets = {
  script: '',
  style: '',
  imports: [],
  files: [],
}
