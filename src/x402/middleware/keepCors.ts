/**
 * Adds the CORS headers that middleware in front of the gate has set. Without
 * them, a page can read neither the price nor the answer.
 */
export function keepCors(
  inFront: Iterable<readonly [string, unknown]>,
  { headers }: Response,
): void {
  for (const [name, value] of inFront)
    if (/^access-control-/i.test(name)) headers.set(name, String(value))
}
