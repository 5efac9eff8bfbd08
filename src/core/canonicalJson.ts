/**
 * Writes JSON with the members of each object sorted by name, so that equal
 * values give equal text.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    isPlainObject(member)
      ? Object.fromEntries(
          Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : member,
  )
}

/** True for an object literal; false for lists and for instances of classes. */
export function isPlainObject(
  value: unknown,
): value is Record<string, unknown> {
  if (typeof value !== 'object' || !value || Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
