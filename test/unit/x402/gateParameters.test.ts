import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { samplePayment } from 'countersign/testing'
import { createX402Gate, type X402Offer } from 'countersign/x402'
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'
import {
  decodePaymentHeader,
  encodeHeader,
} from '../../../src/x402/wire/headers.js'
import { requirementsOf } from '../../../src/x402/wire/requirements.js'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const client = createClient({ chain: base, account, transport: http() })
const orders = createOrders({
  store: memoryStore(),
  seal: 'none',
  tokens: [{ client, token: samplePayment().domain.verifyingContract }],
  wallets: [client],
})
afterAll(() => orders.close())

/** Sells with one field that no type has checked. */
const sellWith = (field: string, value: unknown) => () => {
  const offer: X402Offer = { amount: '0.01', flow: 'upfront' }
  const work: X402Offer = { ...offer, [field]: value }
  return createX402Gate({ orders, offers: { work } })
}

test.each([
  ['afterFailure', 'giveup'],
  ['afterFailure', null],
  ['identifier', 'require'],
  ['identifier', true],
  ['repeatable', 'yes'],
  ['repeatable', 1],
  ['stream', 'false'],
  ['stream', 1],
])('an offer whose %s is %j is refused', (field, value) => {
  expect(sellWith(field, value)).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      message: expect.stringContaining(`offers.work.${field}`),
    }),
  )
})

test.each([
  ['afterFailure', 'keep'],
  ['afterFailure', undefined],
  ['identifier', 'required'],
  ['repeatable', true],
  ['stream', false],
])('an offer whose %s is %j is taken', (field, value) => {
  expect(sellWith(field, value)).not.toThrow()
})

test.each(['description', 'mimeType'])(
  'an offer whose %s leaves no room for a payment is refused, naming the limit',
  (field) => {
    expect(sellWith(field, 'x'.repeat(5_200))).toThrow(
      `offers.work.${field} must be so short that the header of a payment has at most 8192 characters, not `,
    )
    expect(sellWith(field, 'x'.repeat(3_000))).not.toThrow()
  },
)

test.each(['-1', '$0.01', '0', '0.00', '01', '1e3', ' 1', '1.', ''])(
  'an offer that costs "%s" is refused when the gate is created, by its name',
  (amount) => {
    expect(sellWith('amount', amount)).toThrow(
      `offers.work.amount must be a decimal string such as '0.01', above 0`,
    )
  },
)

test('an offer leaves room for the signature of a smart wallet', () => {
  const description = 'x'.repeat(4_000)
  expect(sellWith('description', description)).not.toThrow()
  const signature = `0x${'11'.repeat(700)}`
  const payload = {
    x402Version: 2,
    resource: { url: 'https://shop.example/work', description },
    accepted: requirementsOf({
      domain: samplePayment().domain,
      recipient: account.address,
      value: 10_000n,
      flow: 'authorization',
      maxTimeoutSeconds: 300,
    }),
    payload: { authorization: {}, signature },
    extensions: { id: 'x'.repeat(700) },
  }
  expect(decodePaymentHeader(encodeHeader(payload)).ok).toBe(true)
})

test.each([true, null, {}, 'Daily News'])(
  'a paywall that is %j is refused, and false is none',
  (paywall) => {
    const offers = { work: { amount: '0.01' } }
    expect(() =>
      createX402Gate({ orders, offers, paywall: paywall as never }),
    ).toThrow(
      expect.objectContaining({
        name: 'InvalidFieldError',
        message: expect.stringContaining('paywall'),
      }),
    )
    expect(() =>
      createX402Gate({ orders, offers, paywall: false }),
    ).not.toThrow()
  },
)
