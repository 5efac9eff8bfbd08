/** A script or style sheet that stands in the page itself. */
export type Inlined = {
  text: string
  /** Its hash as a Content-Security-Policy has it. */
  hash: string
}

/**
 * The script and the styles of the paywall. Builds and tests replace this module
 * by what `scripts/bundlePages.ts` makes of the sources in `web`.
 */
export const paywallAssets: { script: Inlined; style: Inlined } = {
  script: { text: '', hash: '' },
  style: { text: '', hash: '' },
}
