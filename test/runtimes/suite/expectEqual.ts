/** Throws an error that shows both when they differ. */
export function expectEqual(found: unknown, expected: unknown): void {
  const [shown, meant] = [show(found), show(expected)]
  if (shown !== meant) throw new Error(`expected ${meant}, got ${shown}`)
}

/** One text for equal values, whatever the order of their members. */
function show(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value !== 'object' || !value) return String(JSON.stringify(value))
  const members = Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${name}: ${show(member)}`)
  return `{ ${members.join(', ')} }`
}
