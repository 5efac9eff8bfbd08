import { expect, test } from 'vitest'
import { createStreamHub } from '../../../src/http/streams/streamHub.js'
import { fakeOrders, recipientOf } from '../support/fakeOrders.js'

function openHub() {
  const orders = fakeOrders()
  orders.tell('one', 'drafted')
  const hub = createStreamHub(orders)
  const { signal } = new AbortController()
  const lastEventId = null
  const places: Response[] = []
  const keep = (response: Response | undefined) => {
    if (response) places.push(response)
    return response !== undefined
  }
  return {
    openOrder: (id: string) =>
      keep(hub.openOrder({ order: { id }, lastEventId, signal })),
    openEvents: (...names: string[]) =>
      keep(
        hub.openEvents({
          scoped: orders,
          recipients: names.map(recipientOf),
          lastEventId,
          signal,
        }),
      ),
    close: () => Promise.all(places.map(({ body }) => body?.cancel())),
  }
}

test('merchants take no place of buyers, and buyers none of merchants', async () => {
  const hub = openHub()
  const names = ['a', 'b', 'c', 'd', 'e', 'f', '1', '2', '3', '4', '5']
  const asMerchants = Array.from({ length: 300 }, (_, index) =>
    hub.openEvents(names[index % names.length] ?? ''),
  )
  expect(asMerchants.filter(Boolean)).toHaveLength(200)
  const asBuyers = Array.from({ length: 1_000 }, (_, index) =>
    hub.openOrder(`order ${index}`),
  )
  expect(asBuyers.filter(Boolean)).toHaveLength(800)
  await hub.close()
  expect([hub.openEvents('a'), hub.openOrder('one')]).toEqual([true, true])
  await hub.close()
})

test('one principal has twenty streams, however it names its recipients', async () => {
  const hub = openHub()
  const own = Array.from({ length: 30 }, (_, index) =>
    index % 2 ? hub.openEvents('a', 'b') : hub.openEvents('b', 'a'),
  )
  expect(own.filter(Boolean)).toHaveLength(20)
  expect(hub.openEvents('c')).toBe(true)
  await hub.close()
})
