import { keccak256, toHex } from 'viem'
import { expect, test } from 'vitest'
import { refundNonce, refundNonces } from './refundNonce.js'

const facts = {
  chainId: 8453,
  token: `0x${'1'.repeat(40)}`,
  payer: `0x${'2'.repeat(40)}`,
  nonce: `0x${'3'.repeat(64)}`,
  index: 0,
} as const

test('the nonce of a refund is the hash of six words', () => {
  const words = [
    toHex('countersign refund').slice(2).padEnd(64, '0'),
    (8453).toString(16).padStart(64, '0'),
    '1'.repeat(40).padStart(64, '0'),
    '2'.repeat(40).padStart(64, '0'),
    '3'.repeat(64),
    '0'.padStart(64, '0'),
  ]
  expect(refundNonce(facts)).toBe(keccak256(`0x${words.join('')}`))
  expect(refundNonce(facts)).toMatchInlineSnapshot(
    `"0xc40aa41307b81c48ce1f3a407a4545874287e4fa552dfcb1eec8a723cab76a70"`,
  )
})

test('another chain, token, payer, payment or index gives another nonce', () => {
  const nonces = [
    facts,
    { ...facts, chainId: 1 },
    { ...facts, token: facts.payer },
    { ...facts, payer: facts.token },
    { ...facts, nonce: `0x${'4'.repeat(64)}` as const },
    { ...facts, index: 1 },
  ].map(refundNonce)
  expect(new Set(nonces).size).toBe(nonces.length)
})

/** A payment nonce with these last 8 bytes. */
const ending = (last: string) =>
  ({ ...facts, nonce: `0x${'3'.repeat(48)}${last}` }) as const

test.each(['0000000000000000', '0000000000000001', '00000000ffffffff'])(
  'if the last 8 bytes of the payment nonce are the sequence %s, the refund starts the sequence of a new key',
  (last) => {
    const [signed, hash, ...none] = refundNonces(ending(last))
    expect(signed).toMatch(/^0x[0-9a-f]{48}0{16}$/)
    expect(signed.slice(0, 50)).toBe(hash?.slice(0, 50))
    expect(none).toEqual([])
    expect(refundNonce(ending(last))).toBe(signed)
    expect(refundNonce({ ...ending(last), index: 1 })).not.toBe(signed)
  },
)

test.each(['0000000100000000', '8000000000000000', '3333333333333333'])(
  'if the last 8 bytes of the payment nonce are %s, as random ones can be, the refund has the whole hash',
  (last) => {
    const nonces = refundNonces(ending(last))
    expect(nonces).toHaveLength(1)
    expect(nonces[0]).not.toMatch(/0{16}$/)
  },
)

test.each([-1, 0.5, Number.NaN, '0'])('refuses the index %s', (index) => {
  expect(() => refundNonce({ ...facts, index: index as number })).toThrow(
    'index',
  )
})
