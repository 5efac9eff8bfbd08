import { concatHex, encodeAbiParameters, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { samplePayment } from '../../testing/samplePayment.js'
import { checkMessage } from './checkMessage.js'
import type { PaymentExpectation } from './types.js'

const signature: Hex = `0x${'11'.repeat(64)}1b`
const payment = samplePayment()
const { from, to, nonce } = payment.message
const token = payment.domain.verifyingContract
const stranger = `0x${'9'.repeat(40)}` as const
const full: PaymentExpectation = {
  token,
  to,
  amount: '12.50',
  primaryType: 'ReceiveWithAuthorization',
  chainId: 8453,
  from,
  nonce,
  maxWindow: 960n,
}

test('an expected payment passes', () => {
  expect(checkMessage(payment, signature, full)).toBeUndefined()
})

test('what is not expected is not compared', () => {
  const bare = { token, to, amount: '1' }
  expect(checkMessage(payment, signature, bare)).toBeUndefined()
})

const fresh = `0x${'4'.repeat(64)}` as const

test.each([
  ['wrongChain', { chainId: 1 }, 8453, 1],
  ['wrongToken', { token: stranger }, token, stranger],
  [
    'wrongPrimaryType',
    { primaryType: 'TransferWithAuthorization' },
    'ReceiveWithAuthorization',
    'TransferWithAuthorization',
  ],
  ['wrongNonce', { nonce: fresh }, nonce, fresh],
  ['wrongPayer', { from: stranger }, from, stranger],
  ['wrongRecipient', { to: stranger }, to, stranger],
] as const)('%s tells both values', (reason, fields, found, expected) => {
  expect(checkMessage(payment, signature, { ...full, ...fields })).toEqual({
    reason,
    details: { found, expected },
  })
})

test.each([
  undefined,
  null,
  '',
  '0x',
  1,
  `0x${'11'.repeat(63)}`,
  `0x${'00'.repeat(65)}`,
])('the signature %j is malformed', (given) => {
  expect(checkMessage(payment, given, full)).toEqual({
    reason: 'malformedSignature',
    details: {},
  })
})

const wrapped = (inner: Hex): Hex =>
  concatHex([
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      [stranger, '0x12', inner],
    ),
    `0x${'6492'.repeat(16)}`,
  ])

test.each<[string, Hex]>([
  ['v 0', `0x${'11'.repeat(64)}00`],
  ['EIP-2098', `0x${'11'.repeat(64)}`],
  ['a wallet of its own kind', `0x${'11'.repeat(300)}`],
  ['ERC-6492', wrapped(signature)],
])('a signature in the form of %s is not malformed', (_, given) => {
  expect(checkMessage(payment, given, full)).toBeUndefined()
})

test('a wrapper around too few bytes is malformed', () => {
  expect(checkMessage(payment, wrapped('0x12'), full)).toMatchObject({
    reason: 'malformedSignature',
  })
})

test('a signature that is wrapped twice is malformed', () => {
  const twice = wrapped(wrapped(signature))
  expect(checkMessage(payment, twice, full)).toMatchObject({
    reason: 'malformedSignature',
  })
})

test('paying oneself is refused', () => {
  const own = samplePayment({ from, to: from })
  expect(checkMessage(own, signature, { ...full, to: from })).toEqual({
    reason: 'selfPayment',
    details: { found: from },
  })
})

test('a window longer than the longest is refused', () => {
  const expectation = { ...full, maxWindow: 959n }
  expect(checkMessage(payment, signature, expectation)).toEqual({
    reason: 'windowTooLong',
    details: { window: 960n, maxWindow: 959n },
  })
})

test('a longest window that is no number is never kept to', () => {
  const maxWindow = Number.NaN as unknown as bigint
  expect(checkMessage(payment, signature, { ...full, maxWindow })).toEqual({
    reason: 'windowTooLong',
    details: { window: 960n, maxWindow },
  })
})

test('the first reason wins, in the order of the list', () => {
  const own = samplePayment({ from, to: from })
  let expectation: PaymentExpectation = {
    token: stranger,
    to: stranger,
    amount: '12.50',
    primaryType: 'TransferWithAuthorization',
    chainId: 1,
    from: stranger,
    nonce: fresh,
    maxWindow: 0n,
  }
  const repairs: Partial<PaymentExpectation>[] = [
    {},
    { chainId: 8453 },
    { token },
    { primaryType: 'ReceiveWithAuthorization' },
    { nonce },
    { from },
    { to: from },
  ]
  const reasons = [checkMessage(own, '0x', expectation)?.reason]
  for (const repair of repairs) {
    expectation = { ...expectation, ...repair }
    reasons.push(checkMessage(own, signature, expectation)?.reason)
  }
  reasons.push(checkMessage(payment, signature, { ...expectation, to })?.reason)
  expect(reasons).toEqual([
    'malformedSignature',
    'wrongChain',
    'wrongToken',
    'wrongPrimaryType',
    'wrongNonce',
    'wrongPayer',
    'wrongRecipient',
    'selfPayment',
    'windowTooLong',
  ])
})

test('no refusal holds the signature', () => {
  const secret = `0x${'5ec2e7'.repeat(21)}0a1bff` as const
  for (const fields of [{ chainId: 1 }, { to: stranger }, { maxWindow: 1n }])
    for (const given of [secret, `${secret.slice(0, -2)}1b`]) {
      const { reason, details } =
        checkMessage(payment, given, { ...full, ...fields }) ?? {}
      expect(reason).toBeDefined()
      expect(Object.values(details ?? {}).join()).not.toContain('5ec2e7')
    }
})
