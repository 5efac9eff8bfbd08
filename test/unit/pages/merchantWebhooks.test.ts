import type { Principal } from 'countersign/http'
import { createPages } from 'countersign/pages'
import { expect, test } from 'vitest'
import { contextOf } from '../../../src/orders/engine.js'
import { baseOrders } from '../support/openPages.js'

type Opened = { write?: boolean; operates?: Principal['operates'] }

function openMerchant({ write = false, operates }: Opened = {}) {
  const orders = baseOrders()
  const { store, recipients } = contextOf(orders).context
  const pages = createPages(orders, {
    payments: '/payments',
    name: 'Roastery',
    merchant: {
      authorize: ({ headers }) =>
        headers.get('authorization') === 'Bearer right'
          ? { recipients, operates }
          : undefined,
      write,
    },
  })
  const ask = (authorization = 'Bearer right') =>
    pages(
      new Request('https://shop.example/merchant/api/webhooks', {
        headers: { authorization },
      }),
    )
  const replay = async (
    query: string,
    headers: Record<string, string> = {},
  ) => {
    const request = new Request(
      `https://shop.example/merchant/api/merchant/webhooks/replay${query}`,
      {
        method: 'POST',
        headers: {
          authorization: 'Bearer right',
          'content-type': 'application/json',
          ...headers,
        },
        body: '{}',
      },
    )
    const answer = await pages(request)
    return [answer.status, await answer.json()]
  }
  const asked = (target = 'warehouse') =>
    store.read((it) => it.getValue(`webhook:${target} replay`))
  const serve = (...targets: string[]) =>
    store.write(async (tables) => {
      for (const target of targets)
        await tables.setValue(`webhook:${target}`, { read: '0', open: [] })
    })
  return { store, ask, replay, asked, serve }
}

test('without a key nobody learns how far webhooks are', async () => {
  const { ask } = openMerchant()
  expect((await ask('Bearer wrong')).status).toBe(401)
})

test('each target on record is shown with its lag and its last failure', async () => {
  const { store, ask } = openMerchant()
  expect(await (await ask()).json()).toEqual({ targets: [] })
  await store.write(async (tables) => {
    const progress = { read: '0', open: [] }
    await tables.setValue('webhook:warehouse', progress)
    await tables.setValue('webhook:books', progress)
    await tables.setValue('webhook:warehouse replay', { after: '0' })
    await tables.setValue('webhook:warehouse failure', {
      at: '1760000000123',
      reason: 'statusRefused',
      status: 503,
    })
  })
  const nothing = { cursor: '0', newest: '0', putAside: [], putAsideCount: 0 }
  const answer = await ask()
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(await answer.json()).toEqual({
    targets: [
      { name: 'books', ...nothing },
      {
        name: 'warehouse',
        ...nothing,
        lastFailure: {
          at: '1760000000123',
          reason: 'statusRefused',
          status: 503,
        },
      },
    ],
  })
})

test('who operates the shop replays the events of a target, and is told until it begins', async () => {
  const { ask, replay, asked, serve } = openMerchant({
    write: true,
    operates: true,
  })
  expect(await (await ask()).json()).toEqual({ targets: [], mayReplay: true })
  await serve('warehouse', 'books')
  expect(await replay('?target=warehouse&since=1760000000000')).toEqual([
    200,
    { replayed: true },
  ])
  expect(await asked()).toEqual({ after: '0' })
  expect(await asked('books')).toBeUndefined()
  expect(await (await ask()).json()).toMatchObject({
    targets: [
      { name: 'books', isReplayRequested: false },
      { name: 'warehouse', isReplayRequested: true },
    ],
  })
})

test.each([undefined, false, 'true' as never])(
  'a merchant whose operates is %o can replay nothing, and is not offered it',
  async (operates) => {
    const { ask, replay, asked, serve } = openMerchant({
      write: true,
      operates,
    })
    await serve('warehouse')
    expect(await replay('?target=warehouse&since=0')).toMatchObject([
      403,
      { reason: 'operationForbidden' },
    ])
    expect(await asked()).toBeUndefined()
    expect(await (await ask()).json()).not.toHaveProperty('mayReplay')
  },
)

test('pages that only read replay nothing', async () => {
  const { replay, asked, serve } = openMerchant({ operates: true })
  await serve('warehouse')
  expect(await replay('?target=warehouse&since=0')).toMatchObject([
    403,
    { detail: 'These pages only read.' },
  ])
  expect(await asked()).toBeUndefined()
})

test('nobody without a key, and no page of another origin, replays anything', async () => {
  const { replay, asked, serve } = openMerchant({ write: true, operates: true })
  await serve('warehouse')
  const query = '?target=warehouse&since=0'
  expect(await replay(query, { authorization: 'Bearer wrong' })).toMatchObject([
    401,
    { reason: 'unauthorized' },
  ])
  for (const origin of ['https://evil.example', 'http://shop.example', 'null'])
    expect(await replay(query, { origin })).toMatchObject([
      403,
      { reason: 'crossSite' },
    ])
  expect(await asked()).toBeUndefined()
  const own = { origin: 'https://shop.example' }
  expect(await replay(query, own)).toEqual([200, { replayed: true }])
})

test.each([
  ['?since=0', 'target'],
  ['?target=&since=0', 'target'],
  ['?target=ware%20house&since=0', 'target'],
  ['?target=nobody&since=0', 'target'],
  ['?target=warehouse%20replay&since=0', 'target'],
  ['?target=warehouse', 'since'],
  ['?target=warehouse&since=', 'since'],
  ['?target=warehouse&since=-1', 'since'],
  ['?target=warehouse&since=yesterday', 'since'],
  [`?target=warehouse&since=${'9'.repeat(19)}`, 'since'],
  ['?target=warehouse&since=0&since=1', 'query'],
  ['?target=warehouse&since=0&after=0', 'after'],
])('a replay of %s is refused and names %s', async (query, field) => {
  const { replay, asked, serve } = openMerchant({ write: true, operates: true })
  await serve('warehouse')
  expect(await replay(query)).toMatchObject([
    400,
    { reason: 'invalidField', field },
  ])
  expect(await asked()).toBeUndefined()
})
