import { expect, test } from 'vitest'
import { knownDomain } from './knownDomain.js'
import { knownTokens } from './knownTokens.js'

test.each(knownTokens)(
  'the domain of $symbol on chain $chainId is the one in knownTokens',
  ({ chainId, address, name, version }) => {
    expect(knownDomain(chainId, address)).toEqual({ name, version })
  },
)

test('a token of another chain or with another address is not known', () => {
  const [token] = knownTokens
  const address = token?.address ?? '0x'
  expect(knownDomain(84532, address)).toBe(undefined)
  expect(knownDomain(8453, `0x9${address.slice(3)}`)).toBe(undefined)
})

test('a stranger that begins alike is held to the name of the known token', () => {
  expect(knownDomain(8453, `0x833589fc${'0'.repeat(32)}`)).toEqual({
    name: 'USD Coin',
    version: '2',
  })
})
