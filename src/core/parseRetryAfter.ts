/**
 * Parses the header `Retry-After`, whole seconds or a date (RFC 9110), into
 * milliseconds. Returns `undefined` for anything else.
 *
 * @param sent header `Date` of the same answer. A date is compared with it,
 * because the clock of the server may differ from ours.
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
