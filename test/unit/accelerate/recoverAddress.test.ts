import { loadAccelerator } from 'countersign/accelerate'
import fc from 'fast-check'
import { type Hex, recoverAddress as viemRecover } from 'viem'
import { sign } from 'viem/accounts'
import { expect, test } from 'vitest'
import { hex, runs, signature as signatures } from '../support/arbitraries.js'

const { fastAccount, recoverAddress } = await loadAccelerator()

test('any 65 bytes recover to the same account as with viem, or to no one', async () => {
  const v = fc.constantFrom('1b', '1c')
  await fc.assert(
    fc.asyncProperty(hex(32), hex(64), v, async (hash, body, last) => {
      const signature: Hex = `${body}${last}`
      const viem = await viemRecover({ hash, signature }).catch(() => undefined)
      expect(recoverAddress({ hash, signature })).toBe(viem?.toLowerCase())
    }),
    runs(500),
  )
})

test('a signature by a key recovers to its address in each form that tokens take', async () => {
  const hash: Hex = `0x${'11'.repeat(32)}`
  const privateKey: Hex = `0x${'22'.repeat(32)}`
  const signature = await sign({ hash, privateKey, to: 'hex' })
  const address = (await viemRecover({ hash, signature })).toLowerCase()
  const parity = Number.parseInt(signature.slice(-2), 16) - 27
  const bare: Hex = `${signature.slice(0, -2) as Hex}0${parity}`
  expect(recoverAddress({ hash, signature })).toBe(address)
  expect(recoverAddress({ hash, signature: bare })).toBe(address)
})

test('anything but a signature of a key recovers to no one', () => {
  fc.assert(
    fc.property(hex(32), signatures(), (hash, signature) => {
      if (signature.length <= 132) return
      expect(recoverAddress({ hash, signature })).toBeUndefined()
    }),
    runs(200),
  )
  const hash: Hex = `0x${'22'.repeat(32)}`
  for (const bad of [undefined, 7, '0x', {}, 'zz'.repeat(32)])
    expect(recoverAddress({ hash, signature: bad as Hex })).toBeUndefined()
})

test('a digest that is not 32 bytes is refused, also to be signed', async () => {
  const signature: Hex = `0x${'11'.repeat(64)}1b`
  const account = fastAccount(`0x${'22'.repeat(32)}`)
  for (const bad of [undefined, 7, '0x', `0x${'11'.repeat(31)}`]) {
    const hash = bad as Hex
    expect(() => recoverAddress({ hash, signature })).toThrow('hash must be')
    await expect(account.sign({ hash })).rejects.toThrow('hash must be')
  }
})
