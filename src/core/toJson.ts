/** JSON text with each `bigint` as a decimal string. */
export function toJson(value: unknown): string {
  return JSON.stringify(
    value,
    // Not by `member`: pages give `BigInt` a `toJSON`, which has run on that.
    function (this: Record<string, unknown>, name, member: unknown) {
      return typeof this[name] === 'bigint' ? String(this[name]) : member
    },
  )
}
