import type { Address, Hex } from 'viem'
import { topics } from '../../core/tokenAbi.js'

/** An event of an EIP-3009 token, its addresses in lower case. */
export type TokenEvent =
  | { name: 'Transfer'; from: Address; to: Address; value: bigint }
  | { name: 'AuthorizationUsed'; authorizer: Address; nonce: Hex }
  | { name: 'AuthorizationCanceled'; authorizer: Address; nonce: Hex }

/**
 * Decodes the three events that decide a payment; `undefined` for any other
 * log. Addresses are lower case: use viem's `getAddress` to show them.
 *
 * Does not check which contract emitted the log: filter by address.
 *
 * @example
 * ```ts
 * import { decodeTokenLog, type ReadLog } from 'countersign/reads'
 *
 * const received = (logs: readonly ReadLog[]) =>
 *   logs.map(decodeTokenLog).filter((event) => event?.name === 'Transfer')
 * ```
 */
export function decodeTokenLog(log: {
  topics: readonly Hex[]
  data: Hex
}): TokenEvent | undefined {
  const [event, first, second] = log.topics
  if (log.topics.length !== 3 || !isWord(first) || !isWord(second))
    return undefined
  if (event === topics.transfer)
    return isValue.test(log.data) && isPadded(first) && isPadded(second)
      ? {
          name: 'Transfer',
          from: addressOf(first),
          to: addressOf(second),
          value: BigInt(log.data),
        }
      : undefined
  if (event !== topics.used && event !== topics.canceled) return undefined
  return log.data === '0x' && isPadded(first)
    ? {
        name:
          event === topics.used ? 'AuthorizationUsed' : 'AuthorizationCanceled',
        authorizer: addressOf(first),
        nonce: second,
      }
    : undefined
}

const isWord = (topic: Hex | undefined): topic is Hex => topic?.length === 66

const isValue = /^0x[\da-f]{64}$/i

const isPadded = (topic: Hex): boolean =>
  topic.startsWith('0x000000000000000000000000')

const addressOf = (topic: Hex): Address => `0x${topic.slice(26).toLowerCase()}`
