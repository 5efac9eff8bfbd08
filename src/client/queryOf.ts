/** The query of a URL with the members that are set; empty if none is. */
export function queryOf(members: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)])
  return given.length ? `?${new URLSearchParams(given)}` : ''
}
