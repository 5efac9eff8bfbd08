import {
  buildCancellation,
  buildPayment,
  decodePayment,
  encodePayment,
  formatAmount,
  hashPayment,
  parseAmount,
} from 'countersign'
import { samplePayment } from 'countersign/testing'
import { expectEqual } from './expectEqual.js'
import { failureOf } from './failureOf.js'
import type { StagedCase } from './types.js'

const signature = `0x${'ab'.repeat(64)}1b` as const

/** Messages are made and read the same, without a chain. */
export const messageCases: readonly StagedCase[] = [
  {
    name: 'a payment is built to the bit',
    run: () => {
      const { domain, message } = samplePayment()
      const { from, to, nonce } = message
      const now = 1_750_000_060n
      const order = { domain, from, to, amount: '12.50', now, nonce }
      expectEqual(buildPayment(order), samplePayment())
      const drawn = () => buildPayment({ ...order, nonce: undefined }).message
      expectEqual(new Set([drawn().nonce, drawn().nonce]).size, 2)
      expectEqual(buildCancellation({ payment: samplePayment() }), {
        primaryType: 'CancelAuthorization',
        domain,
        message: { authorizer: from, nonce },
      })
    },
  },
  {
    name: 'its digest is the one wallets sign',
    run: () =>
      expectEqual(
        hashPayment(samplePayment()),
        '0x6c84b09e170df1d9b7759b77c2b3a30d976412dfd4c6c88cf5bc97e31080b195',
      ),
  },
  {
    name: 'amounts are exact, and refused where they are not',
    run: async () => {
      expectEqual(parseAmount('0.000001'), 1n)
      expectEqual(formatAmount(12_500_000n), '12.5')
      for (const bad of ['0', '-1', '1e3', '1.0000001', '', ' 1'])
        expectEqual(await nameOf(() => parseAmount(bad)), 'InvalidAmountError')
    },
  },
  {
    name: 'a payment survives being written and read',
    run: () => {
      const signed = { ...samplePayment(), signature }
      for (const payment of [samplePayment(), signed])
        expectEqual(decodePayment(encodePayment(payment)), payment)
    },
  },
  {
    name: 'bad input is an error that names the field',
    run: async () => {
      for (const [field, json] of badPayments())
        expectEqual(await fieldOf(() => decodePayment(json)), field)
      const { domain, message } = samplePayment()
      const order = { domain, from: message.from, amount: '12.50' }
      const refused = () => buildPayment({ ...order, to: message.from })
      expectEqual(await fieldOf(refused), 'to')
    },
  },
]

function badPayments(): [field: string, json: unknown][] {
  const written = JSON.parse(encodePayment(samplePayment()))
  const { message, domain } = written
  return [
    ['payment', 'no JSON'],
    ['payment', null],
    ['payment', { ...written, extra: 1 }],
    ['payment.primaryType', { ...written, primaryType: 'Approve' }],
    [
      'payment.domain.chainId',
      { ...written, domain: { ...domain, chainId: '1' } },
    ],
    [
      'payment.message.value',
      { ...written, message: { ...message, value: 1 } },
    ],
    [
      'payment.message.nonce',
      { ...written, message: { ...message, nonce: '0x' } },
    ],
    ['payment.signature', { ...written, signature: '0xzz' }],
  ]
}

const nameOf = async (work: () => unknown): Promise<unknown> =>
  Object(await failureOf(work)).name

/** The field an `InvalidFieldError` names. */
async function fieldOf(work: () => unknown): Promise<unknown> {
  const { name, details } = Object(await failureOf(work))
  return name === 'InvalidFieldError' ? details.field : name
}
