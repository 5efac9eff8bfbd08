/** Writes one line of CSV (RFC 4180). */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(quote).join(',')}\r\n`
}

/** Puts a `'` before text that a spreadsheet would run as a formula. */
export function guardText(text: string): string {
  return /^\s*[=+\-@'\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text
}

const quote = (field: string): string =>
  /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
