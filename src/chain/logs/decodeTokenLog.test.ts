import fc from 'fast-check'
import {
  type Address,
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hex,
  pad,
  toHex,
} from 'viem'
import { expect, test } from 'vitest'
import { eip3009Abi } from '../../core/tokenAbi.js'
import { decodeTokenLog, type TokenEvent } from './decodeTokenLog.js'

const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => toHex(bytes))
const address: fc.Arbitrary<Address> = hex(20)
const word = hex(32)
const value = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

type Log = { topics: Hex[]; data: Hex }

const topicsOf = (eventName: TokenEvent['name'], args: object) =>
  encodeEventTopics({ abi: eip3009Abi, eventName, args } as never) as Hex[]

const transfer = (from: Address, to: Address, value: bigint): Log => ({
  topics: topicsOf('Transfer', { from, to }),
  data: encodeAbiParameters([{ type: 'uint256' }], [value]),
})

const spent = (
  name: 'AuthorizationUsed' | 'AuthorizationCanceled',
  authorizer: Address,
  nonce: Hex,
): Log => ({ topics: topicsOf(name, { authorizer, nonce }), data: '0x' })

const anyLog: fc.Arbitrary<Log> = fc.oneof(
  fc.tuple(address, address, value).map((it) => transfer(...it)),
  fc
    .tuple(
      fc.constantFrom('AuthorizationUsed', 'AuthorizationCanceled'),
      address,
      word,
    )
    .map((it) => spent(...it)),
)

/**
 * Decodes an event with viem, to compare with ours: addresses in lower case.
 */
function readByViem({ topics, data }: Log): unknown {
  const { eventName, args } = decodeEventLog({
    abi: eip3009Abi,
    topics: topics as [Hex, ...Hex[]],
    data,
  })
  const entries = Object.entries(args).map(([name, it]) => [
    name,
    typeof it === 'string' ? it.toLowerCase() : it,
  ])
  return { name: eventName, ...Object.fromEntries(entries) }
}

const from = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const to = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
const nonce: Hex = `0x${'ab'.repeat(32)}`
const paid = transfer(from, to, 12_500_000n)
const used = spent('AuthorizationUsed', from, nonce)
const [transferTopic = '0x', fromTopic = '0x', toTopic = '0x'] = paid.topics
const [usedTopic = '0x', authorizerTopic = '0x'] = used.topics

test('what is decoded is what viem decodes', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      expect(decodeTokenLog(log)).toEqual(readByViem(log))
    }),
    { numRuns: 2000 },
  )
})

test('a transfer has its two parties in lower case and its value', () => {
  expect(decodeTokenLog(paid)).toEqual({
    name: 'Transfer',
    from,
    to,
    value: 12_500_000n,
  })
})

test.each(['AuthorizationUsed', 'AuthorizationCanceled'] as const)(
  '%s has its authorizer and nonce',
  (name) => {
    expect(decodeTokenLog(spent(name, from, nonce))).toEqual({
      name,
      authorizer: from,
      nonce,
    })
  },
)

test('upper-case hex decodes to lower-case addresses', () => {
  const upper = (topic: Hex): Hex => `0x${topic.slice(2).toUpperCase()}`
  const log = {
    topics: [transferTopic, upper(fromTopic), upper(toTopic)],
    data: paid.data,
  }
  expect(decodeTokenLog(log)).toEqual(decodeTokenLog(paid))
  expect(getAddress(from).toLowerCase()).toBe(from)
})

const dirty = `0x${'0'.repeat(23)}1${from.slice(2)}` as Hex

test.each<[string, Log]>([
  ['no topics', { topics: [], data: '0x' }],
  ['a transfer with nothing indexed', { ...paid, topics: [transferTopic] }],
  ['a transfer with one party', { ...paid, topics: paid.topics.slice(0, 2) }],
  [
    'an ERC-721 transfer, whose token id is indexed',
    { topics: [...paid.topics, pad('0x7')], data: '0x' },
  ],
  ['a transfer without data', { ...paid, data: '0x' }],
  ['a transfer with a byte too few', { ...paid, data: `0x${'0'.repeat(62)}` }],
  [
    'a transfer with a word too many',
    { ...paid, data: `0x${'0'.repeat(128)}` },
  ],
  ['a transfer whose data is no hex', { ...paid, data: `0x${'z'.repeat(64)}` }],
  [
    'a transfer with dirt before the sender',
    { ...paid, topics: [transferTopic, dirty, toTopic] },
  ],
  [
    'a transfer with dirt before the recipient',
    { ...paid, topics: [transferTopic, fromTopic, dirty] },
  ],
  [
    'a transfer with a short topic',
    { ...paid, topics: [transferTopic, fromTopic, to] },
  ],
  [
    'another event of the same shape',
    { ...paid, topics: [nonce, fromTopic, toTopic] },
  ],
  [
    'an authorization with dirt before the authorizer',
    { ...used, topics: [usedTopic, dirty, nonce] },
  ],
  ['an authorization with data', { ...used, data: `0x${'0'.repeat(64)}` }],
  [
    'an authorization without nonce',
    { ...used, topics: [usedTopic, authorizerTopic] },
  ],
  [
    'an authorization with a fourth topic',
    { ...used, topics: [...used.topics, nonce] },
  ],
])('%s is none of the three', (_, log) => {
  expect(decodeTokenLog(log)).toBeUndefined()
})

test('any other log is none of the three, and never an exception', () => {
  const log = fc.record({
    topics: fc.array(word, { maxLength: 5 }),
    data: fc.uint8Array({ maxLength: 100 }).map((bytes) => toHex(bytes)),
  })
  fc.assert(
    fc.property(log, (it) => {
      expect(decodeTokenLog(it)).toBeUndefined()
    }),
  )
})

test('a log with a member cut or added is refused where viem refuses it', () => {
  const lengths = fc.tuple(
    anyLog,
    fc.integer({ min: 0, max: 5 }),
    fc.integer({ min: 0, max: 96 }),
  )
  fc.assert(
    fc.property(lengths, ([{ topics, data }, count, size]) => {
      const cut = {
        topics: [...topics, nonce, nonce].slice(0, count),
        data: data.padEnd(200, '0').slice(0, 2 + 2 * size) as Hex,
      }
      const isWhole = cut.topics.length === topics.length && cut.data === data
      expect(decodeTokenLog(cut) !== undefined).toBe(isWhole)
    }),
  )
})
