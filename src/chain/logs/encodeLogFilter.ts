import type { BlockTag } from 'viem'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { BlockSelector } from '../rpc/requestNode.js'
import type { LogFilter, ReadLog } from './types.js'

const blockTags: readonly string[] = [
  'latest',
  'pending',
  'safe',
  'finalized',
  'earliest',
]

/** A filter in JSON-RPC form, without the range of blocks. */
export type WireFilter = {
  address?: string | readonly string[]
  topics?: readonly (string | readonly string[] | null)[]
}

/**
 * Checks a filter and encodes it for JSON-RPC.
 *
 * @throws {@link InvalidFieldError} when the filter is empty or a member is
 * malformed.
 */
export function encodeLogFilter(filter: LogFilter): WireFilter {
  const { address, topics } = filter
  if (Object.values(Object(filter)).every((member) => member === undefined))
    throw new InvalidFieldError(
      'filter',
      filter,
      'an object with address, topics or both',
    )
  return {
    ...(address === undefined ? {} : { address: encodeAddresses(address) }),
    ...(topics === undefined ? {} : { topics: encodeTopics(topics) }),
  }
}

function encodeAddresses(address: unknown): string | string[] {
  if (!Array.isArray(address)) return parseCheckedAddress(address, 'address')
  // Refuses an empty list of addresses: a node would take it as no condition
  // and return the logs of all contracts.
  if (address.length === 0)
    throw new InvalidFieldError(
      'address',
      address,
      'an address, or a list of at least one',
    )
  return address.map((one, i) => parseCheckedAddress(one, `address[${i}]`))
}

function encodeTopics(topics: unknown): (string | string[] | null)[] {
  if (!Array.isArray(topics) || topics.length > 4)
    throw new InvalidFieldError(
      'topics',
      shown(topics),
      'a list of at most 4 topics',
    )
  return topics.map((topic, i) => {
    if (topic === null) return null
    if (Array.isArray(topic) && topic.length === 0)
      throw new InvalidFieldError(
        `topics[${i}]`,
        topic,
        'null, or a list of at least one',
      )
    return Array.isArray(topic)
      ? topic.map((one, k) => parseBytes32(one, `topics[${i}][${k}]`))
      : parseBytes32(topic, `topics[${i}]`)
  })
}

/**
 * Parses a block selector: a tag, a number or its hex.
 *
 * @throws {@link InvalidFieldError} when it is something else.
 */
export function parseBlockSelector(
  value: unknown,
  field = 'block',
): bigint | BlockTag {
  if (isBlock(value)) return value
  if (typeof value === 'string' && /^0x[\da-f]{1,16}$/i.test(value))
    return BigInt(value)
  throw new InvalidFieldError(
    field,
    shown(value),
    `a bigint, a hex string or one of ${blockTags.join(', ')}`,
  )
}

/**
 * Parses the block at which to check a payment: a tag, or a number as a bigint.
 *
 * @throws {@link InvalidFieldError} when it is something else.
 */
export function parseBlock(value: unknown): BlockSelector {
  if (isBlock(value)) return value
  throw new InvalidFieldError(
    'block',
    shown(value),
    `a bigint or one of ${blockTags.join(', ')}`,
  )
}

const isBlock = (value: unknown): value is BlockSelector =>
  (typeof value === 'bigint' && value >= 0n) ||
  (typeof value === 'string' && blockTags.includes(value))

/**
 * Returns a function that checks whether a log matches the filter. A node can
 * return the answer to another request, and a subscription can ignore its
 * filter.
 */
export function logMatcher({
  address,
  topics = [],
}: WireFilter): (log: Pick<ReadLog, 'address' | 'topics'>) => boolean {
  const addresses = new Set(address === undefined ? [] : [address].flat())
  const wanted = topics.map((one) => new Set(one === null ? [] : [one].flat()))
  return (log) =>
    (addresses.size === 0 || addresses.has(log.address)) &&
    wanted.every((any, i) => {
      const topic = log.topics[i] ?? ''
      return any.size === 0 || any.has(topic) || any.has(topic.toLowerCase())
    })
}
