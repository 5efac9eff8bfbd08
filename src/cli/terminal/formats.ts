import { formatAmount } from '../../core/amount.js'

/** Formats Unix seconds as ISO 8601 in UTC. */
export function formatSeconds(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z')
}

/** Formats Unix milliseconds as ISO 8601 in UTC. */
export function formatMilliseconds(milliseconds: bigint): string {
  return new Date(Number(milliseconds)).toISOString()
}

/** Formats wei as a decimal in the chain's own coin. */
export function formatCoin(wei: bigint): string {
  return formatAmount(wei, 18)
}

/** Formats a count with its word, such as `1 order` or `2 orders`. */
export function countOf(count: number | bigint, word: string): string {
  return `${count} ${word}${BigInt(count) === 1n ? '' : 's'}`
}
