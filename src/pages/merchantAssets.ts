import type { PageAssets } from './assets.js'

/**
 * The files of the merchant's pages. Builds and tests replace this module by
 * what `scripts/bundlePages.ts` makes of the sources in `merchant` and `ui`.
 */
export const merchantAssets: PageAssets = {
  script: '',
  style: '',
  imports: [],
  files: [],
}
