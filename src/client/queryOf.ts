/**
 * Builds the query of a URL from the members that are set; empty text if none
 * is.
 */
export function queryOf(members: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)])
  return given.length ? `?${new URLSearchParams(given)}` : ''
}
