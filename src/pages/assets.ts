/** A file of the page in all forms that it is sent in. */
export type Asset = {
  /** With a hash of the content, such as `pay-1a2b3c4d.js`. */
  name: string
  type: string
  text: string
  /** Compressed, in base64. */
  brotli: string
  gzip: string
}

export type PageAssets = {
  /** Names of the script and style sheet that the page starts with. */
  script: string
  style: string
  /** Names of what the script imports at once. */
  imports: readonly string[]
  files: readonly Asset[]
}

/**
 * The files of the page. Builds and tests replace this module by what
 * `scripts/bundlePages.ts` makes of the sources in `web`.
 */
export const assets: PageAssets = {
  script: '',
  style: '',
  imports: [],
  files: [],
}
