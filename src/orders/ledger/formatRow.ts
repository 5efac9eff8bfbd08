import { formatAmount } from '../../core/amount.js'
import type { LedgerRow } from './types.js'

/** Formats an amount as a decimal with a sign, exactly. */
export function formatSigned(
  value: bigint,
  { decimals }: Pick<LedgerRow, 'decimals'>,
): string {
  const amount = formatAmount(value < 0n ? -value : value, decimals)
  return value < 0n ? `-${amount}` : amount
}

/** Formats Unix seconds as ISO 8601 in UTC, without fractions of a second. */
export function formatTime(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z')
}
