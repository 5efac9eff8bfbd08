import {
  createSubscriberClient,
  createSubscriptionsClient,
} from 'countersign/client'
import { createPaymentHandler } from 'countersign/http'
import { afterAll, expect, test } from 'vitest'
import { createBaseAccount } from '../support/baseAccount.js'
import { signAs } from '../support/permissionDesk.js'
import {
  openSubscriptionShop,
  period,
  startSubscriptionChain,
} from '../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const url = 'https://shop.test/payments'

async function openServer() {
  const shop = await openSubscriptionShop(chain)
  const { orders, subscriptions, account } = shop
  const handle = createPaymentHandler(orders, {
    basePath: '/payments',
    subscriptions,
    authorize: ({ headers }) =>
      headers.get('authorization') === 'Bearer own'
        ? { recipients: [account.address] }
        : undefined,
  })
  const fetch = (request: Request) => handle(request)
  const merchant = createSubscriptionsClient({
    url,
    key: 'own',
    fetch,
    retries: 0,
  })
  const subscriber = (subscriptionId: string, buyerToken: string) =>
    createSubscriberClient({
      url,
      subscriptionId,
      buyerToken,
      fetch,
      retries: 0,
    })
  return { ...shop, handle, merchant, subscriber }
}

test('the person who pays reads, signs, follows and cancels a subscription with its token', async () => {
  const { merchant, subscriber, workUntil, account } = await openServer()
  const wallet = await createBaseAccount(chain)
  await wallet.deploy()
  await chain.mint({ to: wallet.address, value: 100_000_000n })
  const subscriptionId = 'sub/1'
  const { permission } = await merchant.draft({
    idempotencyKey: subscriptionId,
    account: wallet.address,
    amount: '10',
    period,
    periods: 12,
    metadata: { note: 'for the shop alone' },
  })
  const { buyerToken } = await merchant.issueBuyerToken({ subscriptionId })
  const mine = subscriber(subscriptionId, buyerToken)
  const drafted = await mine.get()
  expect(drafted).toMatchObject({
    state: 'drafted',
    amount: '10',
    recipient: account.address.toLowerCase(),
    payer: wallet.address,
    permission,
    charges: [],
  })
  expect(JSON.stringify(drafted)).not.toContain('for the shop alone')
  await expect(
    mine.accept({ signature: `0x${'11'.repeat(65)}` }),
  ).rejects.toMatchObject({ reason: 'wrongSigner', status: 422 })
  const signed = await merchant.requestPermission({ subscriptionId })
  const signature = await signAs(wallet, signed)
  const accepted = await mine.accept({ signature })
  expect(accepted.state).toBe('active')
  expect(await mine.accept({ signature })).toMatchObject({ state: 'active' })
  expect(JSON.stringify(accepted)).not.toContain(signature.slice(2))
  await workUntil(
    async () => (await mine.get()).charges[0]?.state === 'captured',
  )
  const [charge] = (await mine.get()).charges
  expect(charge).toMatchObject({ amount: '10', state: 'captured' })
  expect(charge?.transaction?.hash).toMatch(/^0x/)
  expect((await mine.cancel()).state).toBe('canceling')
  expect((await mine.cancel()).state).toBe('canceling')
  await workUntil(async () => (await mine.get()).state === 'canceled')
  await expect(mine.accept({ signature })).rejects.toMatchObject({
    reason: 'notOpen',
  })
})

test('a token opens its own subscription only, no order, and no longer than until the next one is issued', async () => {
  const { subscriptions, orders, subscriber, handle, subscribe } =
    await openServer()
  const [one, other] = [await subscribe(), await subscribe()]
  const issue = async (subscriptionId: string) =>
    (await subscriptions.issueBuyerToken({ subscriptionId })).buyerToken
  const first = await issue(one.id)
  const theirs = await issue(other.id)
  const sale = await orders.draft({ amount: '1' })
  expect((await subscriber(one.id, first).get()).state).toBe('active')
  const newest = await issue(one.id)
  const notFound = { reason: 'subscriptionNotFound', status: 404 }
  for (const [id, token] of [
    [one.id, first],
    [one.id, theirs],
    [one.id, '00'.repeat(32)],
    [one.id, 'short'],
    ['nothing', newest],
    [sale.order.id, sale.buyerToken],
  ] as const) {
    const stranger = subscriber(id, token)
    await expect(stranger.get()).rejects.toMatchObject(notFound)
    await expect(stranger.cancel()).rejects.toMatchObject(notFound)
    await expect(
      stranger.accept({ signature: `0x${'11'.repeat(65)}` }),
    ).rejects.toMatchObject(notFound)
  }
  expect((await subscriber(one.id, newest).get()).state).toBe('active')
  const answer = await handle(
    new Request(`${url}/orders/${one.id}`, {
      headers: { authorization: `Bearer ${newest}` },
    }),
  )
  expect(answer.status).toBe(404)
  await expect(
    orders.getForBuyer({ orderId: one.id, buyerToken: newest }),
  ).rejects.toMatchObject({ name: 'OrderNotFoundError' })
})

test('after ten refused signatures none is verified until the shop issues a new token', async () => {
  const { subscriptions, subscriber } = await openServer()
  const wallet = await createBaseAccount(chain)
  await wallet.deploy()
  await chain.mint({ to: wallet.address, value: 100_000_000n })
  const { subscription, permission } = await subscriptions.draft({
    account: wallet.address,
    amount: '10',
    period,
  })
  const { id: subscriptionId } = subscription
  const { buyerToken } = await subscriptions.issueBuyerToken({ subscriptionId })
  const mine = subscriber(subscriptionId, buyerToken)
  const signature = `0x${'11'.repeat(65)}` as const
  for (let tries = 0; tries < 10; tries++)
    await expect(mine.accept({ signature })).rejects.toMatchObject({
      reason: 'wrongSigner',
    })
  const own = await signAs(wallet, permission)
  await expect(mine.accept({ signature: own })).rejects.toMatchObject({
    reason: 'tooManyTries',
  })
  expect((await mine.get()).state).toBe('drafted')
  const issued = await subscriptions.issueBuyerToken({ subscriptionId })
  const again = subscriber(subscriptionId, issued.buyerToken)
  expect((await again.accept({ signature: own })).state).toBe('active')
})

test('a handler without subscriptions serves no subscription to anybody', async () => {
  const { orders, subscriptions, subscribe } = await openServer()
  const { id: subscriptionId } = await subscribe()
  const { buyerToken } = await subscriptions.issueBuyerToken({ subscriptionId })
  const handle = createPaymentHandler(orders, {
    basePath: '/payments',
    authorize: () => undefined,
  })
  const mine = createSubscriberClient({
    url,
    subscriptionId,
    buyerToken,
    fetch: handle,
    retries: 0,
  })
  await expect(mine.get()).rejects.toMatchObject({ reason: 'noRoute' })
})
