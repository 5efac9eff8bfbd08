/** JSON text with each `bigint` as a decimal string. */
export function toJson(value: unknown): string {
  return JSON.stringify(
    value,
    // Does not test `member`: some pages give `BigInt` a `toJSON`, which has
    // already converted it.
    function (this: Record<string, unknown>, name, member: unknown) {
      return typeof this[name] === 'bigint' ? String(this[name]) : member
    },
  )
}
