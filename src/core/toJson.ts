/** Returns JSON text. Each `bigint` in the value becomes a decimal string. */
export function toJson(value: unknown): string {
  return JSON.stringify(
    value,
    // Reads the original value instead of `member`: on pages that define
    // `BigInt.prototype.toJSON`, `member` is already converted.
    function (this: Record<string, unknown>, name, member: unknown) {
      return typeof this[name] === 'bigint' ? String(this[name]) : member
    },
  )
}
