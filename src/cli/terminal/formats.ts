import type { Address } from 'viem'
import { formatAmount } from '../../core/amount.js'
import { findKnownToken } from '../../core/knownTokens.js'

/** The last second that a date of JavaScript can be, in the year 275760. */
const lastSecond = 8_640_000_000_000n

/**
 * Formats Unix seconds as ISO 8601 in UTC, or as a number if they are later
 * than any date of JavaScript.
 */
export function formatSeconds(seconds: bigint): string {
  if (seconds > lastSecond) return `${seconds}`
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

/** Members of an event's `data` that are Unix seconds. */
const times: readonly string[] = [
  'validBefore',
  'spendableUntil',
  'deadline',
  'blockTime',
]

/** Formats the `data` of an event as `name=value`, times as ISO 8601. */
export function formatFacts(data: object): string[] {
  return Object.entries(data).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          `${name}=${times.includes(name) ? formatSeconds(BigInt(value)) : value}`,
        ],
  )
}

/** Returns the symbol of a token if that is known, and otherwise its address. */
export function formatSymbol(chainId: number, token: Address): string {
  return findKnownToken(chainId, token)?.symbol ?? token
}

/** Formats a token by its address, and by its symbol if that is known. */
export function formatToken(chainId: number, token: Address): string {
  const known = findKnownToken(chainId, token)
  return `token ${token}${known ? ` (${known.symbol})` : ''}`
}
