/** Decodes percent escapes. Returns text with a malformed escape unchanged. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
