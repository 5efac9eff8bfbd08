import { isAddress } from 'viem'
import { expect, test } from 'vitest'
import { hashDomain } from './hashPayment.js'
import { knownTokens } from './knownTokens.js'

/** `DOMAIN_SEPARATOR()` that USDC returns on each chain. */
const separators: [number, string][] = [
  [1, '0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335'],
  [8453, '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f'],
  [84532, '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818'],
  [143, '0xfe22123edc0dd4aeb912eb7948c5f0e531592c2053b3067612f427db342c93c6'],
  [42161, '0x08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78'],
  [137, '0xcaa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca'],
  [10, '0x26d9c34bb1a1c312f69c53b2d93b8be20faafba63af2438c6811713c9b1f933f'],
  [43114, '0xbbea200329a938bc3438984a49cb0732e66d66d7bd59c127abacc1710e77f7b3'],
]

test.each(separators)(
  'USDC on chain %s hashes to its separator',
  (chainId, separator) => {
    const token = knownTokens.find((known) => known.chainId === chainId)
    expect(
      hashDomain({
        name: token?.name ?? '',
        version: token?.version ?? '',
        chainId,
        verifyingContract: token?.address ?? '0x',
      }),
    ).toBe(separator)
  },
)

test('Base comes first', () => {
  expect(knownTokens[0]?.chainId).toBe(8453)
})

test.each(knownTokens)('$symbol on chain $chainId is well formed', (token) => {
  expect(token.decimals).toBe(6)
  expect(token.version).toBe('2')
  expect(isAddress(token.address)).toBe(true)
  expect(token.address).toBe(token.address.toLowerCase())
})

test('no token is listed twice', () => {
  const keys = knownTokens.map(({ chainId, address }) => chainId + address)
  expect(new Set(keys).size).toBe(knownTokens.length)
})
