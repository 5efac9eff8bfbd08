import { SignTypedDataVersion, TypedDataUtils } from '@metamask/eth-sig-util'
import { TypedDataEncoder } from 'ethers'
import fc from 'fast-check'
import {
  bytesToHex,
  type Hex,
  hashTypedData,
  hashDomain as viemHash,
} from 'viem'
import { expect, test } from 'vitest'
import {
  cancellation,
  domain,
  payment,
  runs,
  thrownBy,
} from '../../test/unit/support/arbitraries.js'
import { paymentTypedData } from '../payments/message/paymentTypedData.js'
import { samplePayment } from '../testing/samplePayment.js'
import { InvalidFieldError } from './errors.js'
import { hashDomain, hashPayment } from './hashPayment.js'
import { typedDataTypes } from './typedDataTypes.js'
import type { Cancellation, Payment, TokenDomain } from './types.js'

const message = fc.oneof(payment(), cancellation())

/**
 * The digests that viem, ethers and MetaMask compute for the same typed data.
 */
const digestsOf = (signed: Payment | Cancellation): string[] => {
  const { primaryType, domain: tokenDomain } = signed
  const data = paymentTypedData(signed)
  const types = { [primaryType]: [...typedDataTypes[primaryType]] }
  return [
    hashTypedData({ ...signed, types: typedDataTypes } as never),
    hashTypedData(data as never),
    TypedDataEncoder.hash(tokenDomain, types, signed.message),
    bytesToHex(
      TypedDataUtils.eip712Hash(data as never, SignTypedDataVersion.V4),
    ),
  ]
}

/**
 * Computes the separator with viem's `hashDomain`, because viem's
 * `domainSeparator` leaves out an empty version.
 */
const separatorOf = (tokenDomain: TokenDomain): Hex =>
  viemHash({ domain: tokenDomain as never, types: typedDataTypes })

test('the digest is the one viem, ethers and MetaMask sign', () => {
  fc.assert(
    fc.property(message, (signed) => {
      const digest = hashPayment(signed)
      expect(digestsOf(signed)).toEqual(Array(4).fill(digest))
    }),
    runs(400),
  )
})

test('the digest of the sample payment stays what it is', () => {
  expect(hashPayment(samplePayment())).toMatchInlineSnapshot(
    `"0x6c84b09e170df1d9b7759b77c2b3a30d976412dfd4c6c88cf5bc97e31080b195"`,
  )
})

test('a domain hashes to the separator viem computes, the second time too', () => {
  fc.assert(
    fc.property(domain(), (tokenDomain) => {
      const expected = separatorOf(tokenDomain)
      expect(hashDomain(tokenDomain)).toBe(expected)
      expect(hashDomain({ ...tokenDomain })).toBe(expected)
    }),
    runs(300),
  )
})

test('domains that read alike when joined are told apart', () => {
  const { domain: base } = samplePayment()
  const joined = [
    { ...base, version: '2', name: '3USDC' },
    { ...base, version: '23', name: 'USDC' },
    { ...base, version: '', name: '23USDC' },
    { ...base, version: '2', name: '' },
    { ...base, version: '', name: '2' },
    { ...base, version: '1,2', name: '' },
    { ...base, version: '1', name: ',2' },
  ]
  expect(joined.map(hashDomain)).toEqual(joined.map(separatorOf))
  const payments = joined.map((tokenDomain) =>
    samplePayment({ domain: tokenDomain }),
  )
  expect(payments.map((one) => hashPayment(one))).toEqual(
    payments.map((signed) => digestsOf(signed)[0]),
  )
})

test('the second digest under a domain is right too', () => {
  const [first, second] = [samplePayment(), samplePayment({ value: 1n })]
  expect([first, second, first].map((one) => hashPayment(one))).toEqual(
    [first, second, first].map((signed) => digestsOf(signed)[0]),
  )
})

test('a signature and letter case do not change the digest', () => {
  const plain = samplePayment({ to: `0x${'ab'.repeat(20)}` })
  const upper = samplePayment({ to: `0x${'AB'.repeat(20)}` })
  const signed = { ...plain, signature: `0x${'12'.repeat(65)}` } as const
  expect(hashPayment(upper)).toBe(hashPayment(plain))
  expect(hashPayment(signed)).toBe(hashPayment(plain))
})

test('every member changes the digest', () => {
  const digests = [
    samplePayment(),
    samplePayment({ primaryType: 'TransferWithAuthorization' }),
    samplePayment({ from: `0x${'9'.repeat(40)}` }),
    samplePayment({ to: `0x${'9'.repeat(40)}` }),
    samplePayment({ value: 1n }),
    samplePayment({ validAfter: 1n }),
    samplePayment({ validBefore: 1n }),
    samplePayment({ nonce: `0x${'9'.repeat(64)}` }),
    samplePayment({ domain: { name: 'USDC' } }),
    samplePayment({ domain: { version: '1' } }),
    samplePayment({ domain: { chainId: 1 } }),
    samplePayment({ domain: { verifyingContract: `0x${'9'.repeat(40)}` } }),
  ].map((one) => hashPayment(one))
  expect(new Set(digests).size).toBe(12)
})

const sample = samplePayment()

test.each<[string, unknown]>([
  ['payment', null],
  ['payment', undefined],
  ['payment', 'text'],
  ['payment.domain.chainId', samplePayment({ domain: { chainId: -1 } })],
  ['payment.message.value', samplePayment({ value: -1n })],
  ['payment.message.to', { ...sample, message: { ...sample.message, to: 1 } }],
])('a malformed %s is not hashed', (field, given) => {
  const error = thrownBy(() => hashPayment(given as Payment))
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', field)
})
