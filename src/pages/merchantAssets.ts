import type { PageAssets } from './assets.js'

/**
 * The files of the merchant's pages. Builds and tests replace this module with
 * the output of `scripts/bundlePages.ts` for the sources in `merchant` and
 * `ui`.
 */
export const merchantAssets: PageAssets = {
  script: '',
  style: '',
  imports: [],
  files: [],
}
