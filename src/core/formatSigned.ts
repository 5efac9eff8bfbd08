import { formatAmount } from './amount.js'

/** Formats token units as a decimal, with a sign if they are negative. */
export function formatSigned(
  value: bigint,
  { decimals }: { decimals: number },
): string {
  const amount = formatAmount(value < 0n ? -value : value, decimals)
  return value < 0n ? `-${amount}` : amount
}
