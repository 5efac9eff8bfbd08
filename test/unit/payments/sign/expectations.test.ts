import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import {
  InvalidAmountError,
  InvalidFieldError,
} from '../../../../src/core/errors.js'
import type { Payment } from '../../../../src/core/types.js'
import { UnexpectedPaymentError } from '../../../../src/payments/sign/errors.js'
import {
  type SignPaymentExpectation,
  type SignPaymentParameters,
  signPayment,
} from '../../../../src/payments/sign/signPayment.js'
import { samplePayment } from '../../../../src/testing/samplePayment.js'
import {
  account,
  expectation,
  fakeWallet,
  parameters,
  payer,
  payment,
  signatureOf,
} from '../../support/fakeWallet.js'

test.each<[string, Partial<SignPaymentExpectation>]>([
  ['chainId', { chainId: 84532 }],
  ['chainId', { chainId: undefined as unknown as number }],
  ['token', { token: `0x${'4'.repeat(40)}` }],
  ['to', { to: `0x${'4'.repeat(40)}` }],
  ['value', { amount: '12.51' }],
  ['value', { amount: '12.5', decimals: 18 }],
  ['window', { maxWindow: 959n }],
  ['window', { maxWindow: 0n }],
])(
  'an unexpected %s stops before the wallet is asked: %o',
  async (field, fields) => {
    const wallet = fakeWallet()
    const error = await signPayment(wallet, {
      payment,
      expect: { ...expectation, ...fields },
      now: payment.message.validAfter,
    }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UnexpectedPaymentError)
    expect(error).toHaveProperty(
      'details.field',
      field === 'value' ? expect.stringMatching(/value|amount/) : field,
    )
    expect(wallet.requests).toEqual([])
  },
)

const start = payment.message.validAfter
const day = 86_400n

test.each([
  ['in 2100', 4_102_444_800n, 4_102_445_700n],
  ['without an end', start, 2n ** 256n - 1n],
  ['of a second more than a day', start, start + day + 1n],
])(
  'without a limit of the page a window %s is not signed',
  async (_, validAfter, validBefore) => {
    const wallet = fakeWallet()
    const given = samplePayment({ from: payer, validAfter, validBefore })
    const signing = signPayment(wallet, {
      payment: given,
      expect: expectation,
      now: start,
    })
    await expect(signing).rejects.toMatchObject({
      name: 'UnexpectedPaymentError',
      details: { field: 'window' },
    })
    expect(wallet.requests).toEqual([])
  },
)

test('a window that ends in a day is signed, and a longer one if the page says so', async () => {
  const ending = (validBefore: bigint) =>
    samplePayment({ from: payer, validAfter: 0n, validBefore })
  const now = start
  const aDay = { payment: ending(start + day), expect: expectation, now }
  expect(await signPayment(fakeWallet(), aDay)).toMatchObject(aDay.payment)
  const longer = {
    payment: ending(start + 30n * day),
    expect: { ...expectation, maxWindow: 30n * day },
    now,
  }
  expect(await signPayment(fakeWallet(), longer)).toMatchObject(longer.payment)
})

test('the window is measured from the wall clock, and a time that is no bigint is refused', async () => {
  const wallet = fakeWallet()
  const wall = BigInt(Math.floor(Date.now() / 1000))
  const late = samplePayment({ from: payer, validBefore: wall + 2n * day })
  await expect(
    signPayment(wallet, { payment: late, expect: expectation }),
  ).rejects.toMatchObject({ details: { field: 'window' } })
  await expect(
    signPayment(wallet, { ...parameters, now: 5 as unknown as bigint }),
  ).rejects.toMatchObject({ details: { field: 'now' } })
  expect(wallet.requests).toEqual([])
})

test.each([
  ['ReceiveWithAuthorization', 'TransferWithAuthorization'],
  ['TransferWithAuthorization', 'ReceiveWithAuthorization'],
  [undefined, 'TransferWithAuthorization'],
] as const)('a page that expects %s signs no %s', async (expected, found) => {
  const wallet = fakeWallet()
  await expect(
    signPayment(wallet, {
      payment: samplePayment({ from: payer, primaryType: found }),
      expect: { ...expectation, primaryType: expected },
    }),
  ).rejects.toMatchObject({
    name: 'UnexpectedPaymentError',
    details: { field: 'primaryType', found },
  })
  expect(wallet.requests).toEqual([])
})

const otherToken = `0x${'4'.repeat(40)}` as const

test.each([
  ['name', 'Sign in to shop.example', {}],
  ['version', '1', {}],
  ['name', 'USD Coin', { name: 'USDC' }],
  ['version', '2', { version: '1' }],
] as const)(
  'the %s of a known token must not be %s if the page says %o',
  async (field, found, said) => {
    const wallet = fakeWallet()
    await expect(
      signPayment(wallet, {
        payment: samplePayment({ from: payer, domain: { [field]: found } }),
        expect: { ...expectation, ...said },
      }),
    ).rejects.toMatchObject({
      name: 'UnexpectedPaymentError',
      details: { field, found },
    })
    expect(wallet.requests).toEqual([])
  },
)

test('a signature in place of a name does not reach the error', async () => {
  const name = `0x${'5ec2e7'.repeat(21)}0a1b1b`
  const given = samplePayment({ from: payer, domain: { name } })
  const error = await signPayment(fakeWallet(), {
    payment: given,
    expect: expectation,
  }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ details: { field: 'name' } })
  expect(inspect(error, { depth: 9 })).not.toContain('5ec2e75ec2e7')
})

test('the page may name its token, and must where no other name is to be signed', async () => {
  const domain = { name: 'Shop Coin', verifyingContract: otherToken }
  const given = samplePayment({ from: payer, domain })
  const sign = (name?: string) =>
    signPayment(fakeWallet(), {
      payment: given,
      expect: { ...expectation, token: otherToken, name },
    })
  expect(await sign('Shop Coin')).toMatchObject(given)
  expect(await sign()).toMatchObject(given)
  await expect(sign('Other Coin')).rejects.toMatchObject({
    details: { field: 'name' },
  })
})

test.each(['payer', 'recipient', 'Amount', 'maxwindow', 'from'])(
  'an expectation with the unknown member %s is refused, not ignored',
  async (name) => {
    const wallet = fakeWallet()
    await expect(
      signPayment(wallet, {
        payment,
        expect: { ...expectation, [name]: payer },
      }),
    ).rejects.toMatchObject({
      name: 'InvalidFieldError',
      message: expect.stringContaining(name),
      details: {
        field: 'expect',
        expected: expect.stringContaining('primaryType'),
      },
    })
    expect(wallet.requests).toEqual([])
  },
)

test.each<[string, Partial<Record<keyof SignPaymentExpectation, unknown>>]>([
  ['token', { token: undefined }],
  ['token', { token: '0x12' }],
  ['to', { to: undefined }],
  ['to', { to: ['0x2222222222222222222222222222222222222222'] }],
])('an expectation without a %s is refused: %o', async (field, fields) => {
  const wallet = fakeWallet()
  const given = { ...expectation, ...fields } as SignPaymentExpectation
  const error = await signPayment(wallet, { payment, expect: given }).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', expect.stringContaining(field))
  expect(wallet.requests).toEqual([])
})

test.each([12.5, '12,5', '-12.5', undefined])(
  'an expected amount of %o is refused',
  async (amount) => {
    const wallet = fakeWallet()
    const given = { ...expectation, amount: amount as string }
    await expect(
      signPayment(wallet, { payment, expect: given }),
    ).rejects.toBeInstanceOf(InvalidAmountError)
    expect(wallet.requests).toEqual([])
  },
)

test('without any expectation the wallet is not asked', async () => {
  const wallet = fakeWallet()
  const bare = { payment } as SignPaymentParameters
  await expect(signPayment(wallet, bare)).rejects.toBeInstanceOf(
    InvalidFieldError,
  )
  expect(wallet.requests).toEqual([])
})

test('no window is within a limit that is no number', async () => {
  const wallet = fakeWallet()
  const maxWindow = Number.NaN as unknown as bigint
  await expect(
    signPayment(wallet, { payment, expect: { ...expectation, maxWindow } }),
  ).rejects.toMatchObject({ name: 'UnexpectedPaymentError' })
  expect(wallet.requests).toEqual([])
})

test.each([
  null,
  {},
  samplePayment({ value: 12 as unknown as bigint }),
  samplePayment({ nonce: '0x12' }),
  { ...payment, extra: 1 },
])('a malformed payment is refused: %o', async (given) => {
  const wallet = fakeWallet()
  await expect(
    signPayment(wallet, { payment: given as Payment, expect: expectation }),
  ).rejects.toBeInstanceOf(InvalidFieldError)
  expect(wallet.requests).toEqual([])
})

test('a window as long as expected is signed, and letter case does not matter', async () => {
  const signed = await signPayment(fakeWallet(), {
    payment: samplePayment({ from: account.address }),
    expect: { ...expectation, maxWindow: 960n },
    now: payment.message.validAfter,
  })
  expect(signed).toEqual({ ...payment, signature: await signatureOf() })
})
