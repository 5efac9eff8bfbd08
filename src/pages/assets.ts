/** A file of the pages. */
export type Asset = {
  /** With a hash of the content, such as `pay-1a2b3c4d.js`. */
  name: string
  type: string
  /** In base64. The package contains only this form, to stay small. */
  brotli: string
}

export type PageAssets = {
  /** Names of the script and style sheet that a page loads first. */
  script: string
  style: string
  /** Names of what the script imports at once. */
  imports: readonly string[]
  files: readonly Asset[]
}
