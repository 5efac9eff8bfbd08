import { expect, test } from 'vitest'
import { thrownBy } from '../../../test/unit/support/arbitraries.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { Payment } from '../../core/types.js'
import { samplePayment } from '../../testing/samplePayment.js'
import { buildCancellation } from './buildCancellation.js'

test("a cancellation names the payer and the nonce, in the token's domain", () => {
  const payment = samplePayment()
  expect(buildCancellation({ payment })).toEqual({
    primaryType: 'CancelAuthorization',
    domain: payment.domain,
    message: {
      authorizer: payment.message.from,
      nonce: payment.message.nonce,
    },
  })
})

test('a signature does not pass into the cancellation', () => {
  const signature = `0x${'12'.repeat(65)}` as const
  const payment = { ...samplePayment(), signature }
  expect(buildCancellation({ payment })).toEqual(
    buildCancellation({ payment: samplePayment() }),
  )
})

test.each<[string, unknown]>([
  ['payment', undefined],
  ['payment.message.from', samplePayment({ from: '0x1' })],
  ['payment.message.nonce', samplePayment({ nonce: '0x1' })],
])('a malformed %s is refused', (field, payment) => {
  const error = thrownBy(() =>
    buildCancellation({ payment: payment as Payment }),
  )
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', field)
})
