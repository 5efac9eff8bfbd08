import type { Subscriptions } from 'countersign/subscriptions'
import { afterAll, expect, test } from 'vitest'
import { manager } from '../../support/baseAccount.js'
import {
  openSubscriptionShop,
  pass,
  period,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const account = '0x00000000000000000000000000000000000000a1'
const { subscriptions } = await openSubscriptionShop(chain)

type Terms = Partial<Parameters<Subscriptions['draft']>[0]>

const draft = (subscriptionId: string, terms: Terms) =>
  subscriptions.draft({
    subscriptionId,
    account,
    amount: '10',
    period,
    ...terms,
  })

const { timestamp: now } = await chain.clients.public.getBlock()
const start = now + 5000n
const end = start + 3n * period

const same: readonly [string, Terms, Terms][] = [
  ['no start', {}, {}],
  ['no start and the same number of periods', { periods: 3 }, { periods: 3 }],
  ['no start and the same end', { end }, { end }],
  ['the same start and end', { start, end }, { start, end }],
  ['its end as a number of periods', { start, end }, { start, periods: 3 }],
  ['a start left out', { start, periods: 3 }, { periods: 3 }],
]

test.each(same.map((one, index) => [...one, `same-${index}`] as const))(
  'an id that is drafted again with %s gets the same permission',
  async (_, first, again, id) => {
    const drafted = await draft(id, first)
    await pass(chain, 10n)
    expect(await draft(id, again)).toEqual(drafted)
  },
)

const others: readonly [string, Terms, Terms][] = [
  ['another start', { start, end }, { start: start + 1n, end }],
  ['another end', { start, end }, { start, end: end + 1n }],
  ['an end that it did not have', {}, { end }],
  ['no end', { end }, {}],
  ['another number of periods', { periods: 3 }, { periods: 4 }],
]

test.each(others.map((one, index) => [...one, `other-${index}`] as const))(
  'an id that is drafted again with %s is refused',
  async (_, first, again, id) => {
    const drafted = await draft(id, first)
    await expect(draft(id, again)).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field: 'subscriptionId' },
    })
    expect(await draft(id, first)).toEqual(drafted)
  },
)

test('two calls that draft an id at the same time get the same permission', async () => {
  const both = await Promise.all([
    draft('both', { periods: 3 }),
    draft('both', { periods: 3 }),
  ])
  expect(both[0]).toEqual(both[1])
})

test('a token without EIP-3009 is refused by name, and nothing is stored', async () => {
  const shop = await openSubscriptionShop(chain, {
    changes: { tokens: [manager] },
  })
  const drafting = shop.subscriptions.draft({
    account,
    amount: '10',
    period,
    token: manager,
  })
  await expect(drafting).rejects.toMatchObject({
    name: 'UnsupportedTokenError',
  })
  expect((await shop.subscriptions.list()).subscriptions).toEqual([])
})
