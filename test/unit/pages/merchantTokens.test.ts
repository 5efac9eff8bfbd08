import { expect, test } from 'vitest'
import type { BookOrder } from '../../../src/pages/merchant/applyEvent.js'
import { mostOf } from '../../../src/pages/merchant/exposure.js'
import { isSearch } from '../../../src/pages/merchant/readSearch.js'
import { type PagesShop, tokenName } from '../../../src/pages/merchant/shop.js'
import { splitByToken } from '../../../src/pages/merchant/splitByToken.js'
import { groupAmount, shortAmount } from '../../../src/pages/ui/format.js'

const usdc = `0x${'a1'.repeat(20)}` as const
const dai = `0x${'b2'.repeat(20)}` as const
const known = [
  { chainId: 8453, chain: 'Base', token: usdc, symbol: 'USDC', decimals: 6 },
  { chainId: 10, chain: 'Optimism', token: usdc, symbol: 'USDC', decimals: 6 },
  { chainId: 8453, chain: 'Base', token: dai, symbol: 'DAI', decimals: 18 },
]
const shopOf = (tokens: readonly object[]) =>
  ({ tokens }) as unknown as PagesShop

test('orders are grouped by the token of their chain, in any spelling of its address and in the sequence of the shop', () => {
  const orders = [
    { id: 'a', chainId: 10, token: usdc },
    { id: 'b', chainId: 8453, token: usdc },
    { id: 'c', chainId: 8453, token: dai },
    { id: 'd', chainId: 8453, token: usdc.toUpperCase().replace('X', 'x') },
    { id: 'e', chainId: 1, token: dai },
  ] as unknown as readonly BookOrder[]
  const groups = splitByToken(orders, shopOf(known))
  expect(
    groups.map(({ token, orders: own }) => [
      tokenName(shopOf(known), token),
      own.map(({ id }) => id).join(),
    ]),
  ).toEqual([
    ['USDC on Base', 'b,d'],
    ['USDC on Optimism', 'a'],
    ['DAI on Base', 'c'],
    ['units of 0xb2b2…b2b2', 'e'],
  ])
  expect(splitByToken([], shopOf(known))).toEqual([])
})

test('a token has the name of its chain only beside tokens of other chains', () => {
  const [token = {}, , other = {}] = known
  for (const tokens of [[token], [token, other]])
    expect(tokenName(shopOf(tokens), token as never)).toBe('USDC')
})

test('a ceiling in a token that no node described counts in its units', () => {
  const order = { value: '50500000', atMost: '50.5' }
  expect(mostOf(order, 6)).toBe(50_500_000n)
  expect(mostOf(order, 0)).toBe(50_500_000n)
})

test.each([
  ['0.000021345678901234', '0.00002134'],
  ['0.000000000000000001', '0.000000000000000001'],
  ['0.1', '0.10'],
  ['0', '0.00'],
  ['1.23456789', '1.234'],
  ['12.3456', '12.34'],
  ['1234567.891', '1,234,567.89'],
  ['-0.000021345678', '-0.00002134'],
  ['-1.23456', '-1.234'],
  ['5', '5.00'],
])('%s is shown shortly as %s', (exact, short) => {
  expect(groupAmount(shortAmount(exact))).toBe(short)
})

test.each([
  [{}, false],
  [{ search: '' }, false],
  [{ has: 'refunds' }, false],
  [{ states: undefined, from: undefined }, false],
  [{ search: '0x1' }, true],
  [{ states: ['stored'] }, true],
  [{ from: 0 }, true],
  [{ to: 1 }, true],
  [{ least: '1' }, true],
  [{ most: '1' }, true],
] as const)('a list with the filter %j is a search: %s', (filter, expected) => {
  expect(isSearch(filter)).toBe(expected)
})
