import { checksumAddress } from 'viem'
import { afterEach, expect, test, vi } from 'vitest'
import { thrownBy } from '../../../test/unit/support/arbitraries.js'
import {
  InvalidAmountError,
  InvalidFieldError,
  NoRandomnessError,
} from '../../core/errors.js'
import { type BuildPaymentParameters, buildPayment } from './buildPayment.js'

const order: BuildPaymentParameters = {
  domain: {
    name: 'USD Coin',
    version: '2',
    chainId: 8453,
    verifyingContract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  },
  from: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  to: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  amount: '12.50',
}
const now = 1_750_000_000n
const nonce = `0x${'07'.repeat(32)}` as const

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

test('a payment is to be received by its recipient, from a minute ago for 15 minutes', () => {
  expect(buildPayment({ ...order, now, nonce })).toEqual({
    primaryType: 'ReceiveWithAuthorization',
    domain: order.domain,
    message: {
      from: order.from,
      to: order.to,
      value: 12_500_000n,
      validAfter: now - 60n,
      validBefore: now + 900n,
      nonce,
    },
  })
})

test('the window counts from the wall clock', () => {
  vi.useFakeTimers({ now: 1_750_000_000_400 })
  const { message } = buildPayment(order)
  expect(message.validAfter).toBe(now - 60n)
  expect(message.validBefore).toBe(now + 900n)
})

test('everything given is kept', () => {
  const { primaryType, message } = buildPayment({
    ...order,
    primaryType: 'TransferWithAuthorization',
    decimals: 18,
    validAfter: 0n,
    validBefore: 2n ** 256n - 1n,
    nonce,
  })
  expect(primaryType).toBe('TransferWithAuthorization')
  expect(message).toEqual({
    from: order.from,
    to: order.to,
    value: 12_500_000_000_000_000_000n,
    validAfter: 0n,
    validBefore: 2n ** 256n - 1n,
    nonce,
  })
})

test('members given as undefined count as not given', () => {
  const fields = { decimals: undefined, primaryType: undefined }
  const times = { validAfter: undefined, validBefore: undefined }
  const given = { ...order, ...fields, ...times, now, nonce }
  expect(buildPayment(given)).toEqual(buildPayment({ ...order, now, nonce }))
})

test('every payment has a nonce of its own, 32 bytes', () => {
  const nonces = Array.from({ length: 500 }, () => {
    return buildPayment(order).message.nonce
  })
  expect(new Set(nonces).size).toBe(500)
  for (const drawn of nonces) expect(drawn).toMatch(/^0x[\da-f]{64}$/)
})

test('the nonce is what Web Crypto draws, leading zeros kept', () => {
  const getRandomValues = vi.fn((array: Uint8Array) => array.fill(10, 31))
  vi.stubGlobal('crypto', { getRandomValues })
  expect(buildPayment(order).message.nonce).toBe(`0x${'0'.repeat(63)}a`)
  expect(getRandomValues).toHaveBeenCalledOnce()
})

test('a given nonce draws nothing', () => {
  vi.stubGlobal('crypto', undefined)
  expect(buildPayment({ ...order, nonce }).message.nonce).toBe(nonce)
})

test.each([undefined, {}, { getRandomValues: undefined }])(
  'without Web Crypto (%o) there is no nonce and no payment',
  (crypto) => {
    vi.stubGlobal('crypto', crypto)
    expect(() => buildPayment(order)).toThrow(NoRandomnessError)
  },
)

test('checksummed addresses and upper-case bytes become lower case', () => {
  const { domain, message } = buildPayment({
    ...order,
    domain: {
      ...order.domain,
      verifyingContract: checksumAddress(order.domain.verifyingContract),
    },
    from: checksumAddress(order.from),
    to: checksumAddress(order.to),
    nonce: `0x${'AB'.repeat(32)}`,
  })
  expect(domain).toEqual(order.domain)
  expect(message.from).toBe(order.from)
  expect(message.to).toBe(order.to)
  expect(message.nonce).toBe(`0x${'ab'.repeat(32)}`)
})

test.each([12.5, 12_500_000n, '0', '12.1234567', '-1', undefined])(
  'an amount of %o is refused',
  (amount) => {
    const given = { ...order, amount: amount as string }
    expect(() => buildPayment(given)).toThrow(InvalidAmountError)
  },
)

test('payer and recipient cannot be the same, in any letter case', () => {
  const given = { ...order, to: checksumAddress(order.from) }
  const error = thrownBy(() => buildPayment(given))
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', expect.stringMatching(/to$/))
})

test.each([
  [100n, 99n],
  [100n, 100n],
  [100n, 101n],
])('a window from %s to %s has no second in it', (validAfter, validBefore) => {
  const error = thrownBy(() =>
    buildPayment({ ...order, validAfter, validBefore }),
  )
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty(
    'details.field',
    expect.stringMatching(/validBefore$/),
  )
})

test('the shortest window has one second in it', () => {
  const given = { ...order, validAfter: 100n, validBefore: 102n }
  expect(buildPayment(given).message).toMatchObject({ validBefore: 102n })
})

test.each<[string, Partial<Record<keyof BuildPaymentParameters, unknown>>]>([
  ['from', { from: '0x1' }],
  ['to', { to: undefined }],
  ['nonce', { nonce: '0x07' }],
  ['validAfter', { validAfter: 5 }],
  ['validAfter', { validAfter: '5' }],
  ['validAfter', { validAfter: -1n }],
  ['validAfter', { now: 59n }],
  ['validBefore', { validBefore: 2n ** 256n }],
  ['primaryType', { primaryType: 'Permit' }],
  ['domain', { domain: undefined }],
  ['name', { domain: { ...order.domain, name: undefined } }],
  ['chainId', { domain: { ...order.domain, chainId: '8453' } }],
  ['domain', { domain: { ...order.domain, salt: nonce } }],
])('a malformed %s is an error that names it: %o', (field, fields) => {
  const given = { ...order, ...fields } as BuildPaymentParameters
  const error = thrownBy(() => buildPayment(given))
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty(
    'details.field',
    expect.stringMatching(new RegExp(`(^|\\.)${field}$`)),
  )
})

test('what was given is not changed', () => {
  const given = Object.freeze({
    ...order,
    domain: Object.freeze({ ...order.domain }),
  })
  const { domain } = buildPayment(given)
  expect(domain).not.toBe(given.domain)
  expect(domain).toEqual(given.domain)
})

test('a time that is a number is refused', () => {
  const built = () => buildPayment({ ...order, now: 1_750_000_000 as never })
  expect(thrownBy(built)).toMatchObject({
    name: 'InvalidFieldError',
    details: { field: 'now' },
  })
})
