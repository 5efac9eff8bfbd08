import { expect, test } from 'vitest'
import { buildPayment } from '../payments/message/buildPayment.js'
import { drawPaymentNonce } from './drawPaymentNonce.js'

test('a payment nonce is 24 random bytes and 8 zero bytes', () => {
  expect(drawPaymentNonce()).toMatch(/^0x[0-9a-f]{48}0{16}$/)
  const keys = new Set(Array.from({ length: 100 }, drawPaymentNonce))
  expect(keys.size).toBe(100)
})

test('a built payment starts the sequence of a new key', () => {
  const { message } = buildPayment({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 8453,
      verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    },
    from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    amount: '12.50',
  })
  expect(message.nonce).toMatch(/^0x[0-9a-f]{48}0{16}$/)
})
