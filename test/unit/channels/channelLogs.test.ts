import {
  type ChannelEvent,
  channelTopics,
  decodeChannelLog,
} from 'countersign/channels'
import fc from 'fast-check'
import {
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  parseAbi,
  toEventHash,
} from 'viem'
import { expect, test } from 'vitest'
import { hex, runs } from '../support/arbitraries.js'
import {
  channelConfig,
  sampleConfig,
  token,
} from '../support/channelSamples.js'
import { stockChannelAbi } from '../support/stockChannelAbi.js'

const config =
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }'
/** As published; x402's npm package has only `Settled`. */
const abi = parseAbi([
  config,
  'event ChannelCreated(bytes32 indexed channelId, ChannelConfig config)',
  'event ChannelClosed(bytes32 indexed channelId, ChannelConfig config)',
  'event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance)',
  'event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed)',
  'event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount)',
  'event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount)',
  'event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter)',
  'event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount)',
])

const eventNames = {
  created: 'ChannelCreated',
  closed: 'ChannelClosed',
  deposited: 'Deposited',
  claimed: 'Claimed',
  settled: 'Settled',
  refunded: 'Refunded',
  withdrawInitiated: 'WithdrawInitiated',
  withdrawFinalized: 'WithdrawFinalized',
} as const

test('each topic is the hash of the published event', () => {
  const hashes = Object.entries(eventNames).map(([name, eventName]) => {
    const event = abi.find((it) => it.type === 'event' && it.name === eventName)
    return [name, toEventHash(event as never)]
  })
  expect(channelTopics).toEqual(Object.fromEntries(hashes))
})

test("Settled is the event that x402's package has", async () => {
  const event = (await stockChannelAbi()).find(({ type }) => type === 'event')
  expect(toEventHash(event as never)).toBe(channelTopics.settled)
  expect(
    (event as { inputs: readonly { indexed: boolean }[] }).inputs,
  ).toMatchObject([true, true, true, false].map((indexed) => ({ indexed })))
})

const channelId: Hex = `0x${'a1'.repeat(32)}`
const sender = sampleConfig.receiver
const uint = { type: 'uint256' } as const

const cases: readonly (readonly [ChannelEvent, object, readonly bigint[]])[] = [
  [
    { name: 'deposited', channelId, sender, value: 7n, balance: 9n },
    { channelId, sender },
    [7n, 9n],
  ],
  [
    { name: 'claimed', channelId, sender, value: 7n, claimed: 8n },
    { channelId, sender },
    [7n, 8n],
  ],
  [
    { name: 'settled', receiver: sampleConfig.payer, token, sender, value: 7n },
    { receiver: sampleConfig.payer, token, sender },
    [7n],
  ],
  [
    { name: 'refunded', channelId, sender, value: 7n },
    { channelId, sender },
    [7n],
  ],
  [
    { name: 'withdrawInitiated', channelId, value: 7n, withdrawableAt: 99n },
    { channelId },
    [7n, 99n],
  ],
  [
    { name: 'withdrawFinalized', channelId, sender, value: 7n },
    { channelId, sender },
    [7n],
  ],
]

test.each(cases)(
  '$name is decoded as the contract logs it',
  (event, args, words) => {
    const topics = encodeEventTopics({
      abi,
      eventName: eventNames[event.name],
      args: args as never,
    }) as Hex[]
    const data = encodeAbiParameters(
      words.map(() => uint),
      words,
    )
    expect(decodeChannelLog({ topics, data })).toEqual(event)
    // One topic or word too many or too few is another event.
    expect(
      decodeChannelLog({ topics: topics.slice(0, -1), data }),
    ).toBeUndefined()
    expect(
      decodeChannelLog({ topics: [...topics, channelId], data }),
    ).toBeUndefined()
    expect(decodeChannelLog({ topics, data: '0x' })).toBeUndefined()
    expect(
      decodeChannelLog({ topics, data: `${data}${'00'.repeat(32)}` }),
    ).toBeUndefined()
  },
)

test.each(['created', 'closed'] as const)('%s has the terms', (name) => {
  fc.assert(
    fc.property(channelConfig(), (terms) => {
      const topics = [channelTopics[name], channelId]
      const event = abi.find((it) => it.name === eventNames[name])
      const [, input] = (event as unknown as { inputs: [object, object] })
        .inputs
      const data = encodeAbiParameters([input as never], [terms as never])
      expect(decodeChannelLog({ topics, data })).toEqual({
        name,
        channelId,
        config: terms,
      })
    }),
    runs(30),
  )
})

test('no log makes it throw', () => {
  const topic = fc.oneof(
    hex(32),
    hex(3),
    fc.constantFrom(...Object.values(channelTopics)),
  )
  fc.assert(
    fc.property(
      fc.array(topic, { maxLength: 5 }),
      fc.integer({ min: 0, max: 300 }).chain(hex),
      (topics, data) => {
        const event = decodeChannelLog({ topics, data })
        if (event) expect(channelTopics[event.name]).toBe(topics[0])
      },
    ),
    runs(300),
  )
})
