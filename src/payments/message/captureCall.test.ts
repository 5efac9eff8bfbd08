import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
} from 'viem'
import { expect, test } from 'vitest'
import { thrownBy } from '../../../test/unit/support/arbitraries.js'
import { InvalidFieldError } from '../../core/errors.js'
import { eip3009Abi } from '../../core/tokenAbi.js'
import type {
  Payment,
  PrimaryType,
  SignedCancellation,
  SignedPayment,
} from '../../core/types.js'
import { samplePayment } from '../../testing/samplePayment.js'
import { buildCancellation } from './buildCancellation.js'
import { cancelCall } from './cancelCall.js'
import { captureCall, type TokenCall } from './captureCall.js'

const r: Hex = `0x${'a1'.repeat(32)}`
const s: Hex = `0x${'12'.repeat(32)}`
const order =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const highS = numberToHex(order - BigInt(s), { size: 32 })
const plain = concatHex([r, s, '0x1b'])
const odd = concatHex([r, s, '0x1c'])
const long: Hex = `0x${'cd'.repeat(193)}`
const wrapped = (inner: Hex): Hex =>
  concatHex([
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      [`0x${'1'.repeat(40)}`, '0x12', inner],
    ),
    `0x${'6492'.repeat(16)}`,
  ])

const capture = (
  primaryType: PrimaryType,
  signature: Hex,
  fields: Partial<Payment['message']> = {},
): TokenCall =>
  captureCall({
    payment: { ...samplePayment({ primaryType, ...fields }), signature },
  })

const cancel = (signature: Hex): TokenCall =>
  cancelCall({
    cancellation: {
      ...buildCancellation({ payment: samplePayment() }),
      signature,
    },
  })

const { domain, message } = samplePayment()
const { from, to, value, validAfter, validBefore, nonce } = message
const payment = [from, to, value, validAfter, validBefore, nonce] as const
const split = [27, r, s] as const

test.each([
  [
    'Receive, 65 bytes',
    capture('ReceiveWithAuthorization', plain),
    'receiveWithAuthorization',
    [...payment, ...split],
    '0xef55bec6',
  ],
  [
    'Transfer, 65 bytes',
    capture('TransferWithAuthorization', plain),
    'transferWithAuthorization',
    [...payment, ...split],
    '0xe3ee160e',
  ],
  [
    'Cancel, 65 bytes',
    cancel(plain),
    'cancelAuthorization',
    [from, nonce, ...split],
    '0x5a049a70',
  ],
  [
    'Receive, longer',
    capture('ReceiveWithAuthorization', long),
    'receiveWithAuthorization',
    [...payment, long],
    '0x88b7ab63',
  ],
  [
    'Transfer, longer',
    capture('TransferWithAuthorization', long),
    'transferWithAuthorization',
    [...payment, long],
    '0xcf092995',
  ],
  [
    'Cancel, longer',
    cancel(long),
    'cancelAuthorization',
    [from, nonce, long],
    '0xb7b72899',
  ],
] as const)(
  '%s: the call viem encodes',
  (_, call, functionName, args, selector) => {
    const { to: target, data, address, abi } = call
    expect({ target, address }).toEqual({
      target: domain.verifyingContract,
      address: domain.verifyingContract,
    })
    expect(call.functionName).toBe(functionName)
    expect(call.args).toEqual(args)
    expect(abi).toHaveLength(1)
    expect(data).toBe(encodeFunctionData({ abi, functionName, args }))
    expect(data).toBe(
      encodeFunctionData({ abi: eip3009Abi, functionName, args } as never),
    )
    expect(data.slice(0, 10)).toBe(selector)
  },
)

test.each([66, 95, 96, 97, 128, 500])(
  '%s bytes are padded to whole words',
  (length) => {
    const signature: Hex = `0x${'ef'.repeat(length)}`
    const { data, abi, functionName, args } = capture(
      'ReceiveWithAuthorization',
      signature,
    )
    expect(data).toBe(encodeFunctionData({ abi, functionName, args }))
  },
)

test('the largest integers fit', () => {
  const max = 2n ** 256n - 1n
  const fields = { value: max, validAfter: max, validBefore: max }
  const { data, abi, functionName, args } = capture(
    'TransferWithAuthorization',
    plain,
    fields,
  )
  expect(data).toBe(encodeFunctionData({ abi, functionName, args }))
})

const compact = (parity: 0n | 1n): Hex =>
  concatHex([r, numberToHex(BigInt(s) + (parity << 255n), { size: 32 })])

test.each<[string, Hex, Hex]>([
  ['v 0', concatHex([r, s, '0x00']), plain],
  ['v 1', concatHex([r, s, '0x01']), odd],
  ['high s', concatHex([r, highS, '0x1c']), plain],
  ['high s with v 0', concatHex([r, highS, '0x00']), odd],
  ['EIP-2098, even', compact(0n), plain],
  ['EIP-2098, odd', compact(1n), odd],
  ['ERC-6492 around 65 bytes', wrapped(plain), plain],
  ['ERC-6492 around v 1', wrapped(concatHex([r, s, '0x01'])), odd],
  ['ERC-6492 around a wallet signature', wrapped(long), long],
  [
    'v of a wallet of its own',
    concatHex([r, s, '0x05']),
    concatHex([r, s, '0x05']),
  ],
  ['upper case', plain.toUpperCase().replace('0X', '0x') as Hex, plain],
])('%s goes to the token in the form it takes', (_, given, normal) => {
  expect(capture('ReceiveWithAuthorization', given)).toEqual(
    capture('ReceiveWithAuthorization', normal),
  )
  expect(cancel(given)).toEqual(cancel(normal))
})

test.each<[string, unknown]>([
  ['none', undefined],
  ['null', null],
  ['no bytes', '0x'],
  ['short', `0x${'12'.repeat(63)}`],
  ['zero', `0x${'00'.repeat(65)}`],
  ['a wrapped short one', wrapped('0x12')],
  ['one that is wrapped twice', wrapped(wrapped(plain))],
  ['an object', { r, s, v: 27 }],
])('a signature that is %s makes no call', (_, given) => {
  for (const run of [
    () => capture('ReceiveWithAuthorization', given as Hex),
    () => cancel(given as Hex),
  ]) {
    const error = thrownBy(run)
    expect(error).toBeInstanceOf(InvalidFieldError)
    expect(error).toHaveProperty(
      'details.field',
      expect.stringMatching(/signature$/),
    )
    expect((error as Error).message).not.toContain('1212121212')
  }
})

test.each<[string, () => unknown]>([
  [
    'payment.message.to',
    () => capture('ReceiveWithAuthorization', plain, { to: '0x1' }),
  ],
  [
    'payment.primaryType',
    () => capture('CancelAuthorization' as PrimaryType, plain),
  ],
  [
    'payment.primaryType',
    () => captureCall({ payment: null as unknown as SignedPayment }),
  ],
  [
    'cancellation.primaryType',
    () => cancelCall({ cancellation: null as unknown as SignedCancellation }),
  ],
  [
    'cancellation.primaryType',
    () =>
      cancelCall({
        cancellation: { ...samplePayment(), signature: plain } as never,
      }),
  ],
])('a malformed %s makes no call', (field, run) => {
  const error = thrownBy(run)
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', field)
})
