import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeParts, encodePlace } from './encodePlace.js'
import type { SealContext } from './types.js'

const part = fc.option(fc.string({ unit: 'binary', maxLength: 6 }), {
  nil: undefined,
})
const parts = fc.array(part, { maxLength: 5 })

const hexOf = (list: readonly (string | undefined)[]) =>
  Buffer.from(encodeParts(list)).toString('hex')

/**
 * Two different lists of texts that are equal when joined, because only the
 * cuts between the texts differ.
 */
const recut = fc
  .tuple(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.array(fc.nat(12)),
    fc.array(fc.nat(12)),
  )
  .map(([text, ...cuts]) =>
    cuts.map((places) => {
      const ends = [...places, text.length].sort((one, other) => one - other)
      return ends.map((end, at) => text.slice(ends[at - 1] ?? 0, end))
    }),
  )

test('lists that concatenate to the same text, but differ, give different bytes', () => {
  fc.assert(
    fc.property(recut, ([one = [], other = []]) => {
      expect(one.join('')).toBe(other.join(''))
      expect(hexOf(one) === hexOf(other)).toBe(
        JSON.stringify(one) === JSON.stringify(other),
      )
    }),
    { numRuns: 2_000 },
  )
})

test('any two lists give the same bytes only if they are the same', () => {
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const isSame =
        one.length === other.length &&
        one.every((text, at) => text === other[at])
      expect(hexOf(one) === hexOf(other)).toBe(isSame)
    }),
    {
      numRuns: 2_000,
      examples: [
        [[undefined], ['']],
        [[], [undefined]],
        [[''], ['', '']],
        [['\u0000'], ['']],
      ],
    },
  )
})

const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const)

const placeOfPayment: fc.Arbitrary<SealContext> = fc.record({
  kind: fc.constantFrom('payment', 'cancellation', 'answer'),
  orderId: fc.constantFrom('', '1', '11', 'a', 'payment'),
  attempt: fc.nat(12),
  chainId: fc.nat(12),
  token: hex(1),
  payer: hex(1),
  nonce: hex(1),
})

const placeOfTransaction: fc.Arbitrary<SealContext> = fc.record({
  kind: fc.constant('transaction'),
  action: fc.constantFrom('capture', 'cancel', 'filler'),
  chainId: fc.nat(12),
  account: hex(1),
  accountNonce: fc.nat(12),
  bump: fc.nat(12),
})

const placeOfVoucher: fc.Arbitrary<SealContext> = fc.record({
  kind: fc.constant('voucher'),
  channelId: hex(1),
  maxClaimable: fc.bigInt({ min: 0n, max: 12n }),
})

const place = fc.oneof(placeOfPayment, placeOfTransaction, placeOfVoucher)

const show = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'bigint' ? `${member}n` : member,
  )

const sealed = fc.tuple(
  fc.constantFrom('1', '11'),
  fc.constantFrom('1', 'a', '1a', 'key-1'),
  place,
)

test('another version, key name or place gives other bytes, whatever they join to', () => {
  fc.assert(
    fc.property(sealed, sealed, (one, other) => {
      const [left, right] = [encodePlace(...one), encodePlace(...other)]
      expect(Buffer.from(left).equals(right)).toBe(show(one) === show(other))
    }),
    { numRuns: 2_000 },
  )
})

test('each member of a place is in its bytes', () => {
  fc.assert(
    fc.property(sealed, place, ([version, name, one], other) => {
      const before = Buffer.from(encodePlace(version, name, one))
      for (const member of Object.keys(one)) {
        if (!(member in other) || member === 'kind') continue
        const changed = { ...one, [member]: Reflect.get(other, member) }
        expect(before.equals(encodePlace(version, name, changed))).toBe(
          Reflect.get(one, member) === Reflect.get(other, member),
        )
      }
    }),
  )
})
