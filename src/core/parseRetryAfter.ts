/**
 * Parses the header `Retry-After`, whole seconds or a date (RFC 9110), into
 * milliseconds. Returns `undefined` for anything else.
 *
 * @param sent the answer's own header `Date`, because the two clocks may differ.
 */
export function parseRetryAfter(
  header: string | null | undefined,
  sent?: string | null | undefined,
): number | undefined {
  if (!header) return undefined
  if (/^\d{1,10}$/.test(header)) return Number(header) * 1000
  const date = parseDate(header)
  if (date === undefined) return undefined
  return Math.max(0, date - (parseDate(sent) ?? Date.now()))
}

function parseDate(header: string | null | undefined): number | undefined {
  if (!header || !/^\w{3}, .* GMT$/.test(header)) return undefined
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : date
}
