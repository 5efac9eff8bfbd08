/** A script or style sheet inside the page itself. */
export type Inlined = {
  text: string
  /** Its hash, in the form of a Content-Security-Policy. */
  hash: string
}

/**
 * The script and the styles of the paywall. Builds and tests replace this
 * module with the output of `scripts/bundlePages.ts` for the sources in `web`.
 */
export const paywallAssets: { script: Inlined; style: Inlined } = {
  script: { text: '', hash: '' },
  style: { text: '', hash: '' },
}
