import {
  personalSign,
  SignTypedDataVersion,
  signTypedData,
} from '@metamask/eth-sig-util'
import {
  concatHex,
  encodeAbiParameters,
  type Hex,
  numberToHex,
  parseSignature,
  size,
} from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { expect, test } from 'vitest'
import { InvalidFieldError } from '../../core/errors.js'
import { hashPayment } from '../../core/hashPayment.js'
import type { Payment, SignedPayment } from '../../core/types.js'
import {
  type SamplePaymentParameters,
  samplePayment,
} from '../../testing/samplePayment.js'
import { paymentTypedData } from '../message/paymentTypedData.js'
import { explainSignature } from './explainSignature.js'

const privateKey: Hex = `0x${'7'.repeat(64)}`
const key = Buffer.from(privateKey.slice(2), 'hex')
const payer = privateKeyToAccount(privateKey)
const from = payer.address.toLowerCase() as Hex
const order =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const present = (fields: SamplePaymentParameters = {}): Payment =>
  samplePayment({ from, ...fields })

const signedBy = (signed: Payment): Promise<Hex> =>
  sign({ hash: hashPayment(signed), privateKey, to: 'hex' })

/**
 * Explains the sample payment with the signature of another message, `signed`.
 */
async function explain(signed: SamplePaymentParameters): Promise<unknown> {
  const signature = await signedBy(present(signed))
  return explainSignature({ payment: { ...present(), signature } })
}

const found = (...differences: readonly unknown[]) => ({
  found: true,
  differences,
})

test('a valid signature has nothing to explain', async () => {
  expect(await explain({})).toEqual(found())
})

const [receive, transfer] = [
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
] as const
const baseUsdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const sepoliaUsdc = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'

test.each<[string, SamplePaymentParameters, unknown, unknown]>([
  ['primaryType', { primaryType: transfer }, transfer, receive],
  ['name', { domain: { name: 'USDC' } }, 'USDC', 'USD Coin'],
  ['name', { domain: { name: 'USDC.e' } }, 'USDC.e', 'USD Coin'],
  ['version', { domain: { version: '1' } }, '1', '2'],
  ['chainId', { domain: { chainId: 84532 } }, 84532, 8453],
  ['chainId', { domain: { chainId: 1 } }, 1, 8453],
  [
    'verifyingContract',
    { domain: { verifyingContract: sepoliaUsdc } },
    sepoliaUsdc,
    baseUsdc,
  ],
])(
  'another %s that was signed is found: %o',
  async (field, fields, signed, presented) => {
    expect(await explain(fields)).toEqual(found({ field, signed, presented }))
  },
)

test('a Receive signature presented as Transfer is found', async () => {
  const signature = await signedBy(present())
  const payment = { ...present({ primaryType: transfer }), signature }
  expect(await explainSignature({ payment })).toEqual(
    found({ field: 'primaryType', signed: receive, presented: transfer }),
  )
})

test('the token of another known chain is found as a whole', async () => {
  const domain = {
    name: 'USDC',
    chainId: 84532,
    verifyingContract: sepoliaUsdc,
  } as const
  expect(await explain({ domain })).toEqual(
    found(
      { field: 'name', signed: 'USDC', presented: 'USD Coin' },
      { field: 'chainId', signed: 84532, presented: 8453 },
      {
        field: 'verifyingContract',
        signed: sepoliaUsdc,
        presented: baseUsdc,
      },
    ),
  )
})

test('several differences are found together', async () => {
  const domain = { name: 'USDC', version: '1' }
  expect(await explain({ primaryType: transfer, domain })).toEqual(
    found(
      { field: 'primaryType', signed: transfer, presented: receive },
      { field: 'name', signed: 'USDC', presented: 'USD Coin' },
      { field: 'version', signed: '1', presented: '2' },
    ),
  )
})

test.each([receive, transfer])(
  'a wallet that was not given the type EIP712Domain is found: %s',
  async (primaryType) => {
    const data = paymentTypedData(present({ primaryType }))
    const types = { [primaryType]: [...(data.types[primaryType] ?? [])] }
    const signature = signTypedData({
      privateKey: key,
      data: { ...data, types } as never,
      version: SignTypedDataVersion.V4,
    }) as Hex
    const payment = { ...present(), signature }
    const type = { field: 'primaryType', signed: transfer, presented: receive }
    const domain = expect.objectContaining({ field: 'EIP712Domain' })
    expect(await explainSignature({ payment })).toEqual(
      primaryType === receive ? found(domain) : found(type, domain),
    )
  },
)

test('a digest signed as text is found', async () => {
  const data = hashPayment(present())
  const signature = personalSign({ privateKey: key, data }) as Hex
  const payment = { ...present(), signature }
  expect(await explainSignature({ payment })).toEqual(
    found(
      expect.objectContaining({ field: 'prefix', signed: 'personal_sign' }),
    ),
  )
})

const wrapped = (inner: Hex): Hex =>
  concatHex([
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      [from, '0x12', inner],
    ),
    `0x${'6492'.repeat(16)}`,
  ])

test('a form that tokens do not take is found, alone and with others', async () => {
  const signature = await signedBy(present())
  const { r, s, yParity } = parseSignature(signature)
  const high = numberToHex(order - BigInt(s), { size: 32 })
  const compact = BigInt(s) + (BigInt(yParity) << 255n)
  const type = { field: 'primaryType', signed: receive, presented: transfer }
  for (const given of [
    concatHex([r, s, yParity ? '0x01' : '0x00']),
    concatHex([r, high, yParity ? '0x1b' : '0x1c']),
    concatHex([r, numberToHex(compact, { size: 32 })]),
    wrapped(signature),
  ]) {
    const form = {
      field: 'form',
      signed: 'another form',
      presented: `${size(given)} bytes`,
    }
    const payment = { ...present(), signature: given }
    expect(await explainSignature({ payment })).toEqual(found(form))
    const other = { ...present({ primaryType: transfer }), signature: given }
    expect(await explainSignature({ payment: other })).toEqual(
      found(type, form),
    )
  }
})

test('letter case of a signature is no difference', async () => {
  const signature = (await signedBy(present())).toUpperCase()
  const payment = {
    ...present(),
    signature: signature.replace('0X', '0x') as Hex,
  }
  expect(await explainSignature({ payment })).toEqual(found())
})

test('the signature of someone else names who signed as presented', async () => {
  const stranger: Hex = `0x${'8'.repeat(64)}`
  const hash = hashPayment(present())
  const signature = await sign({ hash, privateKey: stranger, to: 'hex' })
  const payment = { ...present(), signature }
  const { address } = privateKeyToAccount(stranger)
  expect(await explainSignature({ payment })).toEqual({
    found: false,
    signer: address.toLowerCase(),
    tried: expect.any(Number),
  })
})

test.each<[string, SamplePaymentParameters]>([
  ['amount', { value: 1n }],
  ['recipient', { to: `0x${'9'.repeat(40)}` }],
  ['nonce', { nonce: `0x${'9'.repeat(64)}` }],
  ['window', { validBefore: 1n }],
])('another %s cannot be guessed', async (_, fields) => {
  const explanation = await explain(fields)
  expect(explanation).toMatchObject({ found: false })
  expect(explanation).not.toMatchObject({ signer: from })
})

test('a signature that recovers to no one is not explained', async () => {
  const signature: Hex = `0x${'0'.repeat(63)}5${'11'.repeat(32)}1b`
  const payment = { ...present(), signature }
  expect(await explainSignature({ payment })).toEqual({
    found: false,
    signer: undefined,
    tried: expect.any(Number),
  })
})

test.each([undefined, '0x', `0x${'ab'.repeat(300)}`])(
  'a signature of %j recovers to no one and nothing is tried',
  async (given) => {
    const payment = { ...present(), signature: given as Hex }
    expect(await explainSignature({ payment })).toEqual({
      found: false,
      signer: undefined,
      tried: 0,
    })
  },
)

test.each([null, {}, { ...samplePayment({ to: '0x1' }), signature: '0x' }])(
  'a malformed payment is refused: %o',
  async (given) => {
    const payment = given as SignedPayment
    await expect(explainSignature({ payment })).rejects.toBeInstanceOf(
      InvalidFieldError,
    )
  },
)
