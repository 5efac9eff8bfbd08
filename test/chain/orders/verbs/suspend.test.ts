import { startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { submitterKey } from '../../../../src/orders/account/submitterState.js'
import { contextOf } from '../../../../src/orders/contextOf.js'
import { openShop, storedOrder } from '../../support/shop.js'

let chain: Awaited<ReturnType<typeof startDevChain>>
beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
})
afterAll(() => chain.stop())

test('after suspend nothing is sent, and resume captures what waited', async () => {
  const shop = await openShop(chain)
  const { id } = await storedOrder(chain, shop)
  await shop.orders.suspend()
  const waited = await shop.orders.capture({ orderId: id, timeout: 500 })
  expect(waited.status).toBe('unknown')
  expect(await shop.orders.health()).toMatchObject({
    suspended: true,
    submitters: [{ openTransactions: 0, nextNonce: 0 }],
  })
  await shop.orders.resume()
  const done = await shop.orders.capture({ orderId: id, timeout: 60_000 })
  expect(done.status).toBe('captured')
  await shop.orders.close()
})

test('a suspended shop drafts and accepts, and stays suspended when it is opened again', async () => {
  const shop = await openShop(chain)
  await shop.orders.suspend()
  await shop.orders.suspend()
  const again = await openShop(chain, { store: shop.store })
  const { id } = await storedOrder(chain, again)
  expect((await again.orders.get({ orderId: id })).state).toBe('stored')
  expect((await again.orders.health()).suspended).toBe(true)
})

test.each([
  ['suspend doubts no account nonce', { suspendedBy: 'merchant' }, undefined],
  ['a restored backup doubts some', {}, true],
])('resume after %s', async (_, suspended, fillTo) => {
  const shop = await openShop(chain)
  const { context } = contextOf(shop.orders)
  const [destination] = context.destinations
  if (!destination) throw new Error('no destination')
  const subscribed = {
    ...destination,
    id: 'weekly',
    state: 'active' as const,
    payer: destination.recipient,
    permission: {},
    price: undefined,
    period: 0n,
    chargeId: undefined,
    tries: 0,
    due: undefined,
  }
  const { identity } = await shop.store.open()
  const key = submitterKey({ ...destination, account: destination.recipient })
  await shop.store.write(async (it) => {
    await it.subscriptions.insert([subscribed])
    await it.setValue('store', { identity, suspended: true, ...suspended })
  })
  await shop.orders.resume()
  const { submitter, state } = await shop.store.read(async (it) => ({
    submitter: await it.getValue(key),
    state: await it.getValue('store'),
  }))
  expect(submitter?.fillTo).toBe(fillTo)
  expect(state).toEqual({ identity, suspended: false })
})

test('suspend does not hide that the database was replaced', async () => {
  const shop = await openShop(chain)
  await shop.store.write((it) =>
    it.setValue('store', { identity: 'the one before', suspended: false }),
  )
  await shop.orders.suspend()
  const { suspendedBy } = Object(
    await shop.store.read((it) => it.getValue('store')),
  )
  expect(suspendedBy).toBeUndefined()
})
