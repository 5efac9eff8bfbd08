import { hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveKey } from './sealKeys.js'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const name = fc.stringMatching(/^[\w.:/@-]{1,128}$/)

test('cipher keys are derived as the HKDF of node:crypto does', async () => {
  await fc.assert(
    fc.asyncProperty(key, name, async (bytes, keyName) => {
      const derived = hkdfSync('sha256', bytes, 'countersign seal', keyName, 32)
      expect(Buffer.from(await deriveKey(bytes, keyName)).toString('hex')).toBe(
        Buffer.from(derived).toString('hex'),
      )
    }),
  )
})

test('the same bytes under two names give two cipher keys', async () => {
  const bytes = new Uint8Array(32).fill(1)
  const [one, other] = [
    await deriveKey(bytes, 'one'),
    await deriveKey(bytes, 'other'),
  ]
  expect(one).not.toEqual(other)
  expect(one).not.toEqual(bytes)
})
