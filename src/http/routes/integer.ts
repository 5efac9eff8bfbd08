/** Parses an integer that a schema has checked. */
export function integer(digits: string | undefined): bigint | undefined {
  return digits === undefined ? undefined : BigInt(digits)
}
