import { formatAmount } from './amount.js'

/**
 * Formats base units of a token as a decimal, with a minus sign if they are
 * negative.
 */
export function formatSigned(
  value: bigint,
  { decimals }: { decimals: number },
): string {
  const amount = formatAmount(value < 0n ? -value : value, decimals)
  return value < 0n ? `-${amount}` : amount
}
