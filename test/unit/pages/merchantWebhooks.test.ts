import { createPages } from 'countersign/pages'
import { expect, test } from 'vitest'
import { contextOf } from '../../../src/orders/engine.js'
import { baseOrders } from '../support/openPages.js'

function openMerchant() {
  const orders = baseOrders()
  const { store, recipients } = contextOf(orders).context
  const pages = createPages(orders, {
    payments: '/payments',
    name: 'Roastery',
    merchant: {
      authorize: ({ headers }) =>
        headers.get('authorization') === 'Bearer right'
          ? { recipients }
          : undefined,
    },
  })
  const ask = (authorization = 'Bearer right') =>
    pages(
      new Request('https://shop.example/merchant/api/webhooks', {
        headers: { authorization },
      }),
    )
  return { orders, store, ask }
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
