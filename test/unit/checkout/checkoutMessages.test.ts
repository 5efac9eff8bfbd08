import {
  buildCancellation,
  formatAmount,
  hashPayment,
  signPayment,
  verifyPayment,
} from 'countersign'
import {
  buildCheckoutPayment,
  buildPermitPayment,
  type CheckoutPayment,
  checkout,
  checkoutAddress,
  checkoutCall,
  decodeCheckoutPayment,
  decodePermitPayment,
  encodeCheckoutPayment,
  encodePermitPayment,
  permitCheckout,
  permitCheckoutAddress,
} from 'countersign/checkout'
import {
  createClient,
  custom,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  hashTypedData,
  keccak256,
} from 'viem'
import { expect, test, vi } from 'vitest'
import { checkoutAbi } from '../../../src/checkout/contracts/Checkout.generated.js'
import { account, sign } from '../../chain/support/signing.js'

const payer = account('payer')
const recipient = account('recipient').address
const operator = account('operator').address

const fields = {
  domain: {
    name: 'USD Coin',
    version: '2',
    chainId: 8453,
    verifyingContract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  },
  from: payer.address,
  to: recipient,
  atMost: '50.00',
  now: 1_800_000_000n,
} as const
const salt = `0x${'5a'.repeat(32)}` as const
const payment = buildCheckoutPayment({ ...fields, operator, salt })
const permit = buildPermitPayment({ ...fields, operator, nonce: 7n })

test('the message is for the contract and the ceiling, and its nonce hashes all terms', () => {
  const { message } = payment
  const terms = encodeAbiParameters(
    [
      'uint256',
      'address',
      'address',
      'address',
      'address',
      'address',
      'uint256',
      'uint256',
      'uint256',
      'bytes32',
    ].map((type) => ({ type })),
    [
      8453n,
      checkoutAddress,
      fields.domain.verifyingContract,
      payer.address,
      recipient,
      operator,
      50_000_000n,
      message.validAfter,
      message.validBefore,
      salt,
    ],
  )
  expect(message).toMatchObject({ to: checkoutAddress, value: 50_000_000n })
  expect(message.nonce).toBe(keccak256(terms))
})

test('recipient and operator are the same by default, and the salt is random', () => {
  const [one, other] = [
    buildCheckoutPayment(fields),
    buildCheckoutPayment(fields),
  ]
  expect(one.checkout.operator).toBe(recipient.toLowerCase())
  expect(one.checkout.salt).not.toBe(other.checkout.salt)
})

test('a permit is hashed as viem hashes its typed data', () => {
  const data = permitCheckout.typedData(permit)
  expect(permitCheckout.hash(permit)).toBe(hashTypedData(data as never))
  expect(data.message).toEqual({
    owner: payer.address.toLowerCase(),
    spender: permitCheckoutAddress({ recipient, operator }),
    value: 50_000_000n,
    nonce: 7n,
    deadline: fields.now + 899n,
  })
})

test('payments come back from JSON as they were', () => {
  const signature = `0x${'11'.repeat(65)}` as const
  for (const one of [payment, { ...payment, signature }])
    expect(decodeCheckoutPayment(encodeCheckoutPayment(one))).toEqual(one)
  for (const one of [permit, { ...permit, signature }])
    expect(decodePermitPayment(encodePermitPayment(one))).toEqual(one)
})

const changes: readonly (readonly [string, object])[] = [
  ['recipient', { checkout: { ...payment.checkout, recipient: operator } }],
  ['operator', { checkout: { ...payment.checkout, operator: recipient } }],
  ['salt', { checkout: { ...payment.checkout, salt: `0x${'00'.repeat(32)}` } }],
  ['ceiling', { message: { ...payment.message, value: 60_000_000n } }],
  ['contract', { message: { ...payment.message, to: recipient } }],
  ['window', { message: { ...payment.message, validBefore: 2n ** 60n } }],
  ['chain', { domain: { ...payment.domain, chainId: 1 } }],
  ['token', { domain: { ...payment.domain, verifyingContract: recipient } }],
  ['type', { primaryType: 'TransferWithAuthorization' }],
  ['terms, which are missing', { checkout: undefined }],
  ['terms, with one more', { checkout: { ...payment.checkout, fee: 1n } }],
]

test.each(changes)(
  'a draft with another %s is refused before the wallet is asked',
  async (_, change) => {
    const request = vi.fn()
    const changed = { ...payment, ...change } as CheckoutPayment
    await expect(
      signPayment(
        { request },
        {
          payment: changed,
          kind: checkout,
          expect: {
            chainId: 8453,
            token: fields.domain.verifyingContract,
            to: recipient,
            operator,
            atMost: '50.00',
          },
          now: fields.now,
        },
      ),
    ).rejects.toMatchObject({ name: 'InvalidFieldError' })
    expect(request).not.toHaveBeenCalled()
  },
)

test.each([
  ['atMost', { atMost: '49.99' }, /value must be/],
  ['to', { to: operator }, /to must be/],
  ['operator', { operator: undefined }, /operator must be/],
  ['chainId', { chainId: 1 }, /chainId must be/],
])('a page that expects another %s does not sign', async (_, change, words) => {
  const request = vi.fn()
  const signing = signPayment(
    { request },
    {
      payment,
      kind: checkout,
      expect: {
        chainId: 8453,
        token: fields.domain.verifyingContract,
        to: recipient,
        operator,
        atMost: '50.00',
        ...change,
      },
      now: fields.now,
    },
  )
  await expect(signing).rejects.toThrow(words)
  expect(request).not.toHaveBeenCalled()
})

test('a permit for a contract of the server is refused', () => {
  const message = { ...permit.message, to: operator }
  expect(() => encodePermitPayment({ ...permit, message })).toThrow(
    /the checkout contract of recipient and operator/,
  )
})

test('without its kind, a checkout payment is refused, and with it an exact one', async () => {
  const client = createClient({
    transport: custom({ request: () => Promise.reject(new Error('asked')) }),
  })
  const signature = await sign(payer, payment)
  const signed = { ...payment, signature }
  const token = fields.domain.verifyingContract
  const exact = { token, to: recipient, amount: '50.00' }
  await expect(
    verifyPayment(client, { payment: signed, expect: exact }),
  ).rejects.toThrow(/checkout/)
  const { checkout: _, ...plain } = signed
  await expect(
    verifyPayment(client, {
      payment: plain,
      kind: checkout,
      expect: { token, to: recipient, atMost: '50.00' },
    }),
  ).rejects.toThrow(/payment.checkout must be an object/)
  await expect(
    verifyPayment(client, { payment: signed, kind: checkout, expect: exact }),
  ).rejects.toThrow(/amount/)
})

test('the call is what viem encodes, for signatures of both forms', async () => {
  const signatures = [
    await sign(payer, payment),
    `0x${'12'.repeat(97)}` as const,
  ]
  for (const signature of signatures) {
    const call = checkoutCall({
      payment: { ...payment, signature },
      amount: '42.10',
    })
    const { args } = decodeFunctionData({ abi: checkoutAbi, data: call.data })
    const { data } = call
    expect(
      encodeFunctionData({
        abi: call.abi,
        functionName: call.functionName,
        args: call.args,
      }),
    ).toBe(data)
    expect(args?.[1]).toBe(42_100_000n)
  }
})

test('an amount above the ceiling has no call', async () => {
  const signature = await sign(payer, payment)
  const signed = { ...payment, signature }
  const amount = formatAmount(payment.message.value + 1n)
  expect(() => checkoutCall({ payment: signed, amount })).toThrow(
    /at most the ceiling/,
  )
})

test('a cancellation names the payer and the nonce of the terms', () => {
  const cancellation = buildCancellation({ payment, kind: checkout })
  expect(cancellation.message).toEqual({
    authorizer: payer.address.toLowerCase(),
    nonce: payment.message.nonce,
  })
  expect(hashPayment(cancellation)).toMatch(/^0x/)
})
