import { formatAmount } from '../../core/amount.js'

/** Unix seconds as ISO 8601 in UTC. */
export function formatSeconds(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z')
}

/** Unix milliseconds as ISO 8601 in UTC. */
export function formatMilliseconds(milliseconds: bigint): string {
  return new Date(Number(milliseconds)).toISOString()
}

/** Wei as a decimal in the coin of the chain. */
export function formatCoin(wei: bigint): string {
  return formatAmount(wei, 18)
}

/** How many, with the word in the singular or plural. */
export function countOf(count: number | bigint, word: string): string {
  return `${count} ${word}${BigInt(count) === 1n ? '' : 's'}`
}
