import { type Channels, channels, createChannels } from 'countersign/channels'
import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { samplePayment } from 'countersign/testing'
import { createX402Gate, type X402ChannelOffer } from 'countersign/x402'
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const client = createClient({ chain: base, account, transport: http() })
const open = () =>
  createOrders({
    store: memoryStore(),
    seal: 'none',
    tokens: [{ client, token: samplePayment().domain.verifyingContract }],
    wallets: [client],
    kinds: [channels()],
  })
const orders = open()
const other = open()
afterAll(async () => {
  await orders.close()
  await other.close()
})
const made = createChannels({ orders })

const good: X402ChannelOffer = {
  flow: 'channel',
  atMost: '0.01',
  deposit: '1.00',
}

const sellWith = (change: object, given: { channels?: Channels } = {}) =>
  createX402Gate({
    orders,
    channels: made,
    ...given,
    offers: { tokens: { ...good, ...change } },
  })

test.each<[string, unknown]>([
  ['atMost', '0'],
  ['atMost', '$0.01'],
  ['atMost', 0.01],
  ['atMost', undefined],
  ['deposit', '-1'],
  ['deposit', undefined],
  ['deposit', '0.009'],
  ['leastDeposit', '0.009'],
  ['leastDeposit', '1.01'],
  ['mostUnclaimed', '0.009'],
  ['mostUnclaimed', 0.02],
  ['withdrawDelay', 899],
  ['withdrawDelay', 2_592_001],
  ['withdrawDelay', '900'],
  ['withdrawDelay', 900.5],
  ['maxTimeoutSeconds', 5],
  ['answerAt', 'later'],
  ['answerAt', 'preconfirmed'],
  ['preconfirmedUpTo', '1'],
  ['mostAtRisk', '1'],
  ['stream', 'yes'],
])('an offer over channels whose %s is %j is refused', (field, value) => {
  expect(() => sellWith({ [field]: value })).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      message: expect.stringContaining(`offers.tokens.${field}`),
    }),
  )
})

test.each(['amount', 'identifier', 'afterFailure', 'repeatable'])(
  'an offer over channels has no %s',
  (field) => {
    expect(() => sellWith({ [field]: undefined })).toThrow(
      `offers.tokens must be an object with only the members`,
    )
  },
)

test.each<[string, unknown]>([
  ['withdrawDelay', 900],
  ['withdrawDelay', 2_592_000],
  ['deposit', '0.01'],
  ['mostUnclaimed', '0.01'],
  ['leastDeposit', '0.01'],
  ['leastDeposit', '1.00'],
  ['stream', true],
])('an offer over channels whose %s is %j is taken', (field, value) => {
  expect(() => sellWith({ [field]: value })).not.toThrow()
})

test('an offer over channels needs channels of the same orders', () => {
  const offers = { tokens: good }
  expect(() => createX402Gate({ orders, offers })).toThrow(
    'channels must be what createChannels of countersign/channels returns',
  )
  expect(() => sellWith({}, { channels: {} as Channels })).toThrow('channels')
  const foreign = createChannels({ orders: other })
  expect(() => sellWith({}, { channels: foreign })).toThrow('same orders')
})

test('an unknown flow is refused with all that there are', () => {
  expect(() => sellWith({ flow: 'stream' })).toThrow(
    expect.objectContaining({ name: 'InvalidFieldError' }),
  )
})

test('an offer over channels leaves room for its payments', () => {
  expect(() => sellWith({ description: 'x'.repeat(4_000) })).toThrow(
    'offers.tokens.description',
  )
  expect(() => sellWith({ description: 'x'.repeat(1_000) })).not.toThrow()
})
