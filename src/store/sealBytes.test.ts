import { createCipheriv, createDecipheriv } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openBytes, sealBytes } from './sealBytes.js'

const fromHex = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const toHex = (bytes: Uint8Array | undefined) =>
  Buffer.from(bytes ?? []).toString('hex')

/** Test vector: appendix A.3.1 of draft-irtf-cfrg-xchacha-03. */
const draft = {
  plain: fromHex(
    '4c616469657320616e642047656e746c656d656e206f662074686520636c6173' +
      '73206f66202739393a204966204920636f756c64206f6666657220796f75206f' +
      '6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73' +
      '637265656e20776f756c642062652069742e',
  ),
  additional: fromHex('50515253c0c1c2c3c4c5c6c7'),
  key: fromHex(
    '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f',
  ),
  nonce: fromHex('404142434445464748494a4b4c4d4e4f5051525354555657'),
  sealed:
    'bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb' +
    '731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452' +
    '2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9' +
    '21f9664c97637da9768812f615c68b13b52e' +
    'c0875924c1c7987947deafd8780acf49',
}

const rotate = (word: number, bits: number) =>
  (word << bits) | (word >>> (32 - bits))

/**
 * Implements HChaCha20 as section 2.2 of the draft describes it, to compare
 * with.
 */
function hchacha20(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const constants = Buffer.from('expand 32-byte k')
  const input = Buffer.concat([constants, key, nonce])
  const state = Int32Array.from({ length: 16 }, (_, at) =>
    input.readInt32LE(at * 4),
  )
  const word = (at: number) => state[at] ?? 0
  const step = (a: number, b: number, c: number, bits: number) => {
    state[a] = word(a) + word(b)
    state[c] = rotate(word(c) ^ word(a), bits)
  }
  const quarter = (a: number, b: number, c: number, d: number) => {
    step(a, b, d, 16)
    step(c, d, b, 12)
    step(a, b, d, 8)
    step(c, d, b, 7)
  }
  for (let round = 0; round < 10; round++) {
    for (const at of [0, 1, 2, 3]) quarter(at, at + 4, at + 8, at + 12)
    quarter(0, 5, 10, 15)
    quarter(1, 6, 11, 12)
    quarter(2, 7, 8, 13)
    quarter(3, 4, 9, 14)
  }
  const output = Buffer.alloc(32)
  for (const at of [0, 1, 2, 3]) {
    output.writeInt32LE(word(at), at * 4)
    output.writeInt32LE(word(at + 12), at * 4 + 16)
  }
  return output
}

type Given = typeof draft

/**
 * Builds XChaCha20-Poly1305 from Node's ChaCha20-Poly1305 and the function
 * above, to compare with.
 */
const nodeCipher = {
  seal({ plain, additional, key, nonce }: Omit<Given, 'sealed'>): Uint8Array {
    const subkey = hchacha20(key, nonce.subarray(0, 16))
    const short = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)])
    const options = { authTagLength: 16 }
    const cipher = createCipheriv('chacha20-poly1305', subkey, short, options)
    cipher.setAAD(additional, { plaintextLength: plain.length })
    const text = [cipher.update(plain), cipher.final()]
    return Buffer.concat([...text, cipher.getAuthTag()])
  },
  open(
    sealed: Uint8Array,
    { additional, key, nonce }: Omit<Given, 'sealed' | 'plain'>,
  ): Uint8Array {
    const subkey = hchacha20(key, nonce.subarray(0, 16))
    const short = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)])
    const options = { authTagLength: 16 }
    const cipher = createDecipheriv('chacha20-poly1305', subkey, short, options)
    cipher.setAAD(additional, { plaintextLength: sealed.length - 16 })
    cipher.setAuthTag(sealed.subarray(-16))
    return Buffer.concat([
      cipher.update(sealed.subarray(0, -16)),
      cipher.final(),
    ])
  },
}

test('bytes are sealed and opened as appendix A.3.1 of the XChaCha draft says', () => {
  const sealed = sealBytes(draft.plain, draft)
  expect(toHex(sealed)).toBe(draft.sealed)
  expect(openBytes(sealed, draft)).toEqual(draft.plain)
})

test('the second implementation passes the vectors of the draft too', () => {
  const subkey = hchacha20(
    Uint8Array.from({ length: 32 }, (_, at) => at),
    fromHex('000000090000004a0000000031415927'),
  )
  expect(toHex(subkey)).toBe(
    '82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc',
  )
  expect(toHex(nodeCipher.seal(draft))).toBe(draft.sealed)
})

const bytesOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length })

const given = fc.record({
  plain: fc.uint8Array({ maxLength: 2_000 }),
  additional: fc.uint8Array({ maxLength: 600 }),
  key: bytesOf(32),
  nonce: bytesOf(24),
})

test('two implementations seal to the same bytes, and open what the other sealed', () => {
  fc.assert(
    fc.property(given, (parts) => {
      const [own, other] = [
        sealBytes(parts.plain, parts),
        nodeCipher.seal(parts),
      ]
      expect(toHex(own)).toBe(toHex(other))
      expect(toHex(openBytes(other, parts))).toBe(toHex(parts.plain))
      expect(toHex(nodeCipher.open(own, parts))).toBe(toHex(parts.plain))
    }),
    { numRuns: 500 },
  )
})

test('nothing opens after one bit of the text, key, nonce or additional data is flipped', () => {
  fc.assert(
    fc.property(given, fc.nat(), fc.nat(3), (parts, at, which) => {
      const sealed = sealBytes(parts.plain, parts)
      const inputs = [sealed, parts.key, parts.nonce, parts.additional]
      const bytes = inputs[which]?.length ? inputs[which] : sealed
      const place = at % (bytes.length * 8)
      bytes[place >> 3] = (bytes[place >> 3] ?? 0) ^ (1 << (place & 7))
      expect(openBytes(sealed, parts)).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})

test('nothing opens after it was cut, at either end', () => {
  const sealed = sealBytes(draft.plain, draft)
  for (let length = 0; length < sealed.length; length++) {
    expect(openBytes(sealed.subarray(0, length), draft)).toBeUndefined()
    expect(openBytes(sealed.subarray(-length || 1), draft)).toBeUndefined()
  }
})
