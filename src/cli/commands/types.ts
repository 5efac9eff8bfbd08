/** What `explain` says about its input, as JSON and as lines of text. */
export type Explanation = {
  facts: Readonly<Record<string, unknown>>
  lines: readonly string[]
  /** False when a check of the input fails. */
  ok: boolean
}
