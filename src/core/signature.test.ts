import fc from 'fast-check'
import {
  concatHex,
  encodeAbiParameters,
  type Hex,
  recoverAddress,
  serializeSignature,
} from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { expect, test } from 'vitest'
import { hex, runs } from '../../test/unit/support/arbitraries.js'
import {
  isWrappedSignature,
  normalizeSignature,
  tokenSignature,
  unwrapSignature,
} from './signature.js'

const order =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const half = order / 2n
const magic: Hex = `0x${'6492'.repeat(16)}`

const word = (value: bigint): string => value.toString(16).padStart(64, '0')
const pack = (r: bigint, s: bigint, v: string): Hex =>
  `0x${word(r)}${word(s)}${v}`
const wrap = (signature: Hex): Hex =>
  concatHex([
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      ['0x1111111111111111111111111111111111111111', '0x1234', signature],
    ),
    magic,
  ])

const [r, s] = [order - 1n, 12_345n]
const plain27 = pack(r, s, '1b')
const plain28 = pack(r, s, '1c')

test.each([
  ['v 27', plain27, plain27],
  ['v 28', plain28, plain28],
  ['v 0', pack(r, s, '00'), plain27],
  ['v 1', pack(r, s, '01'), plain28],
  ['s at the half', pack(r, half, '1b'), pack(r, half, '1b')],
  ['high s and v 27', pack(r, order - s, '1b'), plain28],
  ['high s and v 28', pack(r, order - s, '1c'), plain27],
  ['high s and v 0', pack(r, order - s, '00'), plain28],
  ['high s and v 1', pack(r, order - s, '01'), plain27],
  ['s just above the half', pack(r, half + 1n, '1b'), pack(r, half, '1c')],
  ['EIP-2098, even', pack(r, s, ''), plain27],
  ['EIP-2098, odd', pack(r, s + 2n ** 255n, ''), plain28],
  [
    'EIP-2098, high s',
    pack(r, half + 1n, ''),
    pack(r, order - half - 1n, '1c'),
  ],
  ['upper case', plain27.toUpperCase().replace('0X', '0x'), plain27],
  ['eth_sign of a Safe, v 31', pack(r, s, '1f'), pack(r, s, '1f')],
  ['eth_sign of a Safe, v 32', pack(r, s, '20'), pack(r, s, '20')],
  ['approved hash of a Safe', pack(77n, 0n, '01'), pack(77n, 0n, '01')],
  ['v 2', pack(r, s, '02'), pack(r, s, '02')],
  ['v 5', pack(r, s, '05'), pack(r, s, '05')],
  ['v 26', pack(r, s, '1a'), pack(r, s, '1a')],
  ['v 29', pack(r, s, '1d'), pack(r, s, '1d')],
  ['v 255 and no curve point', pack(0n, 0n, 'ff'), pack(0n, 0n, 'ff')],
  ['66 bytes', `${plain27}00`, `${plain27}00`],
  ['300 bytes', `0x${'ab'.repeat(300)}`, `0x${'ab'.repeat(300)}`],
])('a signature with %s gets the form tokens accept', (_, given, normal) => {
  expect(normalizeSignature(given)).toBe(normal)
})

test.each([
  ['nothing', undefined],
  ['null', null],
  ['an object', {}],
  ['an object without text', { toString: 1, valueOf: 1 }],
  ['an array', [plain27]],
  ['a symbol', Symbol('signature')],
  ['a number', 27],
  ['empty bytes', '0x'],
  ['no 0x', plain27.slice(2)],
  ['63 bytes', plain27.slice(0, -4)],
  ['half a byte', `${plain27}0`],
  ['no hex', `${plain27.slice(0, -1)}g`],
  ['a line end', `${plain27}\n`],
  ['r of 0', pack(0n, s, '1b')],
  ['r of the order', pack(order, s, '1b')],
  ['s of 0', pack(r, 0n, '1b')],
  ['s of the order', pack(r, order, '1b')],
  ['s of 2^256 - 1', pack(r, 2n ** 256n - 1n, '1b')],
  ['64 zero bytes', `0x${'00'.repeat(64)}`],
  ['65 zero bytes', `0x${'00'.repeat(65)}`],
  ['EIP-2098 with r of 0', pack(0n, s, '')],
  ['EIP-2098 with s of 0', pack(r, 2n ** 255n, '')],
  ['more bytes than any wallet sends', `0x${'ab'.repeat(20_000_000)}`],
])('a signature with %s is none', (_, given) => {
  expect(normalizeSignature(given)).toBeUndefined()
  expect(tokenSignature(given)).toBeUndefined()
})

test('normalizing twice is normalizing once', () => {
  const text = fc.oneof(hex(64), hex(65), hex(66), hex(200))
  fc.assert(
    fc.property(text, (given) => {
      const once = normalizeSignature(given)
      fc.pre(once !== undefined)
      expect(normalizeSignature(once)).toBe(once)
    }),
    runs(2_000),
  )
})

test('every form of a signature becomes the one that recovers to its signer', async () => {
  const key = fc.bigInt({ min: 1n, max: order - 1n })
  await fc.assert(
    fc.asyncProperty(key, hex(32), async (secret, hash) => {
      const privateKey: Hex = `0x${word(secret)}`
      const { address } = privateKeyToAccount(privateKey)
      const made = await sign({ hash, privateKey })
      const [low, parity] = [BigInt(made.s), made.yParity ?? 2]
      const rValue = BigInt(made.r)
      const forms = [
        serializeSignature(made),
        pack(rValue, low, `0${parity}`),
        pack(rValue, order - low, parity ? '1b' : '1c'),
        pack(rValue, order - low, `0${1 - parity}`),
        pack(rValue, low + (parity ? 2n ** 255n : 0n), ''),
      ]
      for (const form of forms) {
        const signature = normalizeSignature(form)
        expect(signature).toBe(forms[0])
        expect(
          await recoverAddress({ hash, signature: signature ?? '0x' }),
        ).toBe(address)
      }
    }),
    runs(30),
  )
})

test.each([
  ['65 bytes', plain27],
  ['no bytes', '0x' as const],
  ['500 bytes', `0x${'cd'.repeat(500)}` as const],
])('%s come out of the wrapper for undeployed wallets', (_, inner) => {
  expect(isWrappedSignature(wrap(inner))).toBe(true)
  expect(unwrapSignature(wrap(inner))).toBe(inner)
})

test('the wrapper is known in upper case too', () => {
  const upper = wrap(plain27).toUpperCase().replace('0X', '0x') as Hex
  expect(isWrappedSignature(upper)).toBe(true)
  expect(tokenSignature(upper)).toBe(plain27)
})

test('a signature without the wrapper stays as it is', () => {
  expect(isWrappedSignature(plain27)).toBe(false)
  expect(unwrapSignature(plain27)).toBe(plain27)
})

test.each<[string, Hex]>([
  ['nothing but the magic', magic],
  ['an offset beyond its end', `0x${'ff'.repeat(96)}${magic.slice(2)}`],
  [
    'a length beyond its end',
    `0x${word(0n)}${word(0n)}${word(96n)}${word(999n)}${magic.slice(2)}`,
  ],
  ['a wrapper inside', wrap(wrap(plain27))],
  ['the magic alone inside', wrap(magic)],
  ['three wrappers inside', wrap(wrap(wrap(wrap(plain27))))],
])('a wrapper with %s is no signature', (_, given) => {
  expect(unwrapSignature(given)).toBeUndefined()
  expect(tokenSignature(given)).toBeUndefined()
})

test('what is inside the wrapper is normalized as well', () => {
  expect(tokenSignature(wrap(pack(r, s, '00')))).toBe(plain27)
  expect(tokenSignature(wrap(pack(r, s, '')))).toBe(plain27)
  expect(tokenSignature(wrap('0x1234'))).toBeUndefined()
})

test('anything wrapped and any bytes with the magic give bytes or nothing', () => {
  const inside = fc.uint8Array({ maxLength: 400 })
  fc.assert(
    fc.property(inside, (bytes) => {
      const body = Buffer.from(bytes).toString('hex')
      expect(unwrapSignature(wrap(`0x${body}`))).toBe(`0x${body}`)
      expect(tokenSignature(wrap(wrap(`0x${body}`)))).toBeUndefined()
      const result = tokenSignature(`0x${body}${magic.slice(2)}`)
      expect(result ?? `0x${'00'.repeat(64)}`).toMatch(/^0x([\da-f]{2}){64,}$/)
    }),
    runs(1_000),
  )
})
