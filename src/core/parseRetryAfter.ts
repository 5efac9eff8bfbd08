/**
 * Parses the header `Retry-After`, whole seconds or a date (RFC 9110), into
 * milliseconds. Returns `undefined` for anything else.
 *
 * @param now Unix milliseconds.
 */
export function parseRetryAfter(
  header: string | null | undefined,
  now: number = Date.now(),
): number | undefined {
  if (!header) return undefined
  if (/^\d{1,10}$/.test(header)) return Number(header) * 1000
  const date = /^\w{3}, .* GMT$/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
