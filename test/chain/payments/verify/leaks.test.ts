import {
  buildCancellation,
  cancelCall,
  cancelPayment,
  captureCall,
  capturePayment,
  decodePayment,
  encodePayment,
  explainSignature,
  getPaymentOutcome,
  hashPayment,
  type Payment,
  paymentTypedData,
  type SignedCancellation,
  type SignedPayment,
  signCancellation,
  signCapture,
  signPayment,
  verifyPayment,
} from 'countersign'
import { slice } from 'viem'
import { expect, test } from 'vitest'
import {
  cancellation,
  expected,
  expectNoLeak,
  merchant,
  payment,
  quote,
  reader,
  relayer,
  signatures,
  unsignedCancellation,
} from '../../support/leakChecks.js'
import { cancelPageOf } from '../../support/settle.js'

test('a leak in any spelling and any place would be found', () => {
  const [signature = '0x'] = signatures
  const error = new Error('x', { cause: { deep: [signature.toUpperCase()] } })
  expect(() => expectNoLeak(error)).toThrow()
  const hidden = Object.defineProperty(new Error('x'), 'it', {
    value: { sig: BigInt(slice(signature, 32, 64)) },
  })
  expect(() => expectNoLeak(hidden)).toThrow()
  const base64 = Buffer.from(signature.slice(2), 'hex').toString('base64')
  expect(() => expectNoLeak(new Error(`in ${base64}`))).toThrow()
  expect(() => expectNoLeak(new Error('nothing'))).not.toThrow()
})

type Fields = Record<string, unknown>

/** A payment or cancellation with a secret in each wrong place. */
function misplaced(signed: SignedPayment | SignedCancellation): unknown[] {
  const { signature } = signed
  const [r, s] = [slice(signature, 0, 32), slice(signature, 32, 64)]
  const base64 = Buffer.from(r.slice(2), 'hex').toString('base64')
  const values = [signature, r, s, r.slice(2), `${BigInt(r)}`, base64]
  const bad = [
    `${signature}zz`,
    `${signature}0`,
    r,
    { r, s, v: 27 },
    [r, s],
    BigInt(r),
    base64,
  ]
  const put = (value: unknown) => [
    ...Object.keys(signed.message).map((key) => ({
      ...signed,
      message: { ...signed.message, [key]: value },
    })),
    ...Object.keys(signed.domain).map((key) => ({
      ...signed,
      domain: { ...signed.domain, [key]: value },
    })),
    { ...signed, primaryType: value },
    { ...signed, domain: value },
    { ...signed, message: value },
    { ...signed, [String(value)]: 1 },
    { ...signed, r: value },
    value,
  ]
  return [
    ...values.flatMap(put),
    ...bad.map((value) => ({ ...signed, signature: value })),
  ]
}

const atInput: Record<string, (given: never) => unknown> = {
  captureCall: (given) => captureCall({ payment: given }),
  cancelCall: (given) => cancelCall({ cancellation: given }),
  encodePayment: (given) => encodePayment(given),
  decodePayment: (given) => decodePayment(given),
  'decodePayment, text': (given) => decodePayment(`${quote(given)}}`),
  hashPayment: (given) => hashPayment(given),
  paymentTypedData: (given) => paymentTypedData(given),
  buildCancellation: (given) => buildCancellation({ payment: given }),
  explainSignature: (given: Fields) =>
    Object(given).message === payment.message
      ? undefined
      : explainSignature({ payment: given as never }),
  signCancellation: (given) =>
    signCancellation(
      { request: async () => '0x' },
      { cancellation: given, expect: cancelPageOf(unsignedCancellation) },
    ),
  signPayment: (given) =>
    signPayment(
      { request: async () => '0x' },
      { payment: given, expect: expected },
    ),
  verifyPayment: (given) =>
    verifyPayment(reader, { payment: given, expect: expected }),
  capturePayment: (given) => capturePayment(merchant, { payment: given }),
  signCapture: (given) => signCapture(merchant, { payment: given }),
  cancelPayment: (given) => cancelPayment(relayer, { cancellation: given }),
  getPaymentOutcome: (given: Payment) =>
    getPaymentOutcome(reader, { payment: given }),
}

test.each(Object.entries(atInput))(
  '%s leaks nothing when its input is malformed',
  async (_, run) => {
    let errors = 0
    for (const given of [...misplaced(payment), ...misplaced(cancellation)]) {
      const error = await Promise.resolve()
        .then(() => run(given as never))
        .then(
          () => undefined,
          (e) => e,
        )
      if (error === undefined) continue
      errors++
      expectNoLeak(error)
    }
    expect(errors).toBeGreaterThan(50)
  },
)
