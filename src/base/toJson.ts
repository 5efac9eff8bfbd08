/** JSON text with each `bigint` as a decimal string. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    typeof member === 'bigint' ? String(member) : member,
  )
}
