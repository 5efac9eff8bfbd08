/** A file of the pages. */
export type Asset = {
  /** With a hash of the content, such as `pay-1a2b3c4d.js`. */
  name: string
  type: string
  /** Compressed, in base64: the package has this form alone, for its size. */
  brotli: string
}

export type PageAssets = {
  /** Names of the script and style sheet that a page starts with. */
  script: string
  style: string
  /** Names of what the script imports at once. */
  imports: readonly string[]
  files: readonly Asset[]
}
