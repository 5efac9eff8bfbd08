import { expect, test } from 'vitest'
import type { BookOrder } from '../../../src/pages/merchant/applyEvent.js'
import { findDeadlines } from '../../../src/pages/merchant/deadlines.js'
import type { PagesShop } from '../../../src/pages/merchant/shop.js'

const usdc = `0x${'1'.repeat(40)}` as const
const dai = `0x${'2'.repeat(40)}` as const
const shop = {
  tokens: [
    { chainId: 8453, token: usdc, symbol: 'USDC', decimals: 6 },
    { chainId: 8453, token: dai, symbol: 'DAI', decimals: 18 },
  ],
} as unknown as PagesShop

const now = 1_000
const order = (id: string, changes: Partial<BookOrder>) =>
  ({
    id,
    state: 'stored',
    chainId: 8453,
    token: usdc,
    value: '1000000',
    ...changes,
  }) as BookOrder

const shown = (orders: readonly BookOrder[]) =>
  findDeadlines(orders, { now, shop }).map(({ label, orders: own, sums }) => [
    label,
    own.map(({ id }) => id).join(),
    sums.map(({ token, value }) => `${value} ${token.symbol}`).join(),
  ])

const ends = (seconds: number) => ({ validBefore: String(now + seconds) })

test('signed orders are grouped by the end of their window, the next one first', () => {
  expect(
    shown([
      order('days', ends(604_800)),
      order('b', ends(900)),
      order('a', ends(1)),
      order('hour', ends(901)),
      order('year', ends(31_536_000)),
      order('sending', { ...ends(902), state: 'capturing' }),
    ]),
  ).toEqual([
    ['within 15 minutes', 'a,b', '2000000 USDC'],
    ['within an hour', 'hour,sending', '2000000 USDC'],
    ['within 7 days', 'days', '1000000 USDC'],
    ['later', 'year', '1000000 USDC'],
  ])
})

test('orders that are over, unsigned or being given up have no deadline', () => {
  const states = ['drafted', 'canceling', 'captured', 'voided'] as const
  expect(
    shown([
      ...states.map((state) => order(state, { ...ends(60), state })),
      order('ended', ends(0)),
    ]),
  ).toEqual([])
})

test('each token has a sum of its own, and a ceiling counts in full', () => {
  expect(
    shown([
      order('one', ends(60)),
      order('two', { ...ends(60), token: dai, value: '5' }),
      order('three', { ...ends(60), value: '1', atMost: '2.5' }),
    ]),
  ).toEqual([['within 15 minutes', 'one,two,three', '3500000 USDC,5 DAI']])
})
