import { expect, test } from 'vitest'
import { drawPaymentNonce } from './drawPaymentNonce.js'

test('a payment nonce is 24 random bytes and 8 zero bytes', () => {
  expect(drawPaymentNonce()).toMatch(/^0x[0-9a-f]{48}0{16}$/)
  const keys = new Set(Array.from({ length: 100 }, drawPaymentNonce))
  expect(keys.size).toBe(100)
})
