/** An explanation, as JSON and as lines. */
export type Explanation = {
  facts: Readonly<Record<string, unknown>>
  lines: readonly string[]
  /** False when a check fails. */
  ok: boolean
}
