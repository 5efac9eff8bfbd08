import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase64url, encodeBase64url } from './base64url.js'

test('bytes are written as the Buffer of Node writes them, and read again', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), (bytes) => {
      const text = encodeBase64url(bytes)
      expect(text).toBe(Buffer.from(bytes).toString('base64url'))
      expect(decodeBase64url(text)).toEqual(bytes)
    }),
  )
})

test('text is read only if it is how its bytes are written', () => {
  const letter = fc.constantFrom(...'ABgz09-_+/= \n')
  fc.assert(
    fc.property(fc.string({ unit: letter, maxLength: 9 }), (text) => {
      const bytes = decodeBase64url(text)
      const written = Buffer.from(text, 'base64url').toString('base64url')
      expect(bytes !== undefined).toBe(written === text)
      if (bytes) expect(encodeBase64url(bytes)).toBe(text)
    }),
    { numRuns: 2_000 },
  )
})
