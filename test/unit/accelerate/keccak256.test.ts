import { hashPayment } from 'countersign'
import { loadAccelerator } from 'countersign/accelerate'
import { samplePayment } from 'countersign/testing'
import fc from 'fast-check'
import { bytesToHex, keccak256 as viemKeccak256 } from 'viem'
import { expect, test, vi } from 'vitest'
import { cancellation, payment, runs } from '../support/arbitraries.js'

const { keccak256 } = await loadAccelerator()

test('bytes of any length hash as with viem', () => {
  const data = fc
    .nat({ max: 3_000 })
    .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
  fc.assert(
    fc.property(data, (bytes) => {
      expect(bytesToHex(keccak256(bytes))).toBe(viemKeccak256(bytes))
    }),
    runs(500),
  )
})

test('a result stays as it is when more is hashed', () => {
  const first = keccak256(new Uint8Array([1]))
  const text = bytesToHex(first)
  keccak256(new Uint8Array(1_000_000).fill(2))
  expect(bytesToHex(first)).toBe(text)
})

test('hashPayment gives the same digests with it', () => {
  fc.assert(
    fc.property(fc.oneof(payment(), cancellation()), (message) => {
      expect(hashPayment(message, { keccak256 })).toBe(hashPayment(message))
    }),
    runs(500),
  )
})

test('hashPayment hashes with the function it is given, and refuses any other value', () => {
  const counting = vi.fn(keccak256)
  hashPayment(samplePayment(), { keccak256: counting })
  expect(counting).toHaveBeenCalled()
  const wrong = { keccak256: 'fast' } as never
  expect(() => hashPayment(samplePayment(), wrong)).toThrow(
    'keccak256 must be a function, not "fast".',
  )
  const unknown = { keccak: keccak256 } as never
  expect(() => hashPayment(samplePayment(), unknown)).toThrow(
    'options must be an object with only the members keccak256, not "keccak".',
  )
})
