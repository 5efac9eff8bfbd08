/** Returns the lower one of two values, of which either may be absent. */
export function lowerOf(one: bigint | undefined, other: bigint): bigint
export function lowerOf(
  one: bigint | undefined,
  other: bigint | undefined,
): bigint | undefined
export function lowerOf(
  one: bigint | undefined,
  other: bigint | undefined,
): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}
