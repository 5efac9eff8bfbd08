/**
 * Finds the lowest number from 0 on for which `isOld` is false. Below that
 * number `isOld` must be true, and from it on false.
 */
export async function findFirst(
  isOld: (number: bigint) => Promise<boolean>,
): Promise<bigint> {
  let old = -1n
  let young = 0n
  for (let step = 1n; await isOld(young); step *= 2n) {
    old = young
    young += step
  }
  while (young - old > 1n) {
    const middle = (young + old) / 2n
    if (await isOld(middle)) old = middle
    else young = middle
  }
  return young
}
