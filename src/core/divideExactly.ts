/**
 * Returns one of the shares of an amount that is divided by a count. The shares
 * of all places add up to the amount.
 *
 * @param place from 0; below `count`.
 */
export function divideExactly(
  amount: bigint,
  place: number,
  count: number,
): bigint {
  const rest = amount % BigInt(count)
  return amount / BigInt(count) + (BigInt(place) < rest ? 1n : 0n)
}
