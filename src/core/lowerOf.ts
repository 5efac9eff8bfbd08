/** Returns the lower one of two values that may be absent. */
export function lowerOf(
  one: bigint | undefined,
  other: bigint | undefined,
): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}
