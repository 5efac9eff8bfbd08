import { createSubscriptionsClient } from 'countersign/client'
import { createPaymentHandler } from 'countersign/http'
import type { Address } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { createBaseAccount } from '../support/baseAccount.js'
import { fundedAccount } from '../support/desk.js'
import { signAs } from '../support/permissionDesk.js'
import {
  openSubscriptionShop,
  period,
  startSubscriptionChain,
} from '../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const url = 'https://shop.test/payments'

/** A shop with the clients of two merchants, of whom one has its recipient. */
async function openSubscriptionServer() {
  const [account, other] = [
    await fundedAccount(chain),
    await fundedAccount(chain),
  ]
  const shop = await openSubscriptionShop(chain, {
    account,
    changes: { sellers: [account, other] },
  })
  const { orders, subscriptions } = shop
  const recipients = new Map<string | null, readonly Address[]>([
    ['Bearer own', [account.address]],
    ['Bearer other', [other.address]],
    ['Bearer both', [account.address, other.address]],
  ])
  const handle = createPaymentHandler(orders, {
    basePath: '/payments',
    subscriptions,
    authorize: ({ headers }) => {
      const found = recipients.get(headers.get('authorization'))
      return found && { recipients: found }
    },
  })
  const clientOf = (key: string) =>
    createSubscriptionsClient({ url, key, fetch: handle, retries: 0 })
  return { ...shop, account, handle, clientOf }
}

test('a subscription is drafted, signed, charged and canceled over HTTP', async () => {
  const { clientOf, workUntil, account } = await openSubscriptionServer()
  const client = clientOf('own')
  const wallet = await createBaseAccount(chain)
  await wallet.deploy()
  await chain.mint({ to: wallet.address, value: 100_000_000n })
  const asked = {
    idempotencyKey: 'sub/1',
    account: wallet.address,
    amount: '10',
    allowance: '15',
    period,
    periods: 12,
    metadata: { plan: 'monthly' },
  }
  const { subscription, permission } = await client.draft(asked)
  expect(subscription).toMatchObject({
    id: 'sub/1',
    state: 'drafted',
    amount: '10',
    recipient: account.address.toLowerCase(),
    metadata: { plan: 'monthly' },
  })
  const again = await client.draft(asked)
  expect(again.permission).toEqual(permission)
  await expect(client.draft({ ...asked, amount: '9' })).rejects.toMatchObject({
    reason: 'subscriptionIdInUse',
    status: 409,
  })

  const subscriptionId = 'sub/1'
  await expect(
    client.charge({ subscriptionId, chargeId: 'early', amount: '1' }),
  ).rejects.toMatchObject({ reason: 'notOpen' })
  await expect(
    client.accept({ subscriptionId, signature: `0x${'11'.repeat(65)}` }),
  ).rejects.toMatchObject({ reason: 'wrongSigner', status: 422 })
  const asSigned = await client.requestPermission({ subscriptionId })
  const signature = await signAs(wallet, asSigned)
  const accepted = await client.accept({ subscriptionId, signature })
  expect(accepted.subscription.state).toBe('active')
  expect(JSON.stringify(accepted)).not.toContain(signature.slice(2))

  const charges = async () => {
    const found = []
    for await (const page of client.listCharges({ subscriptionId, limit: 1 }))
      found.push(...page.charges)
    return found
  }
  await workUntil(async () => (await charges())[0]?.state === 'captured')
  const { order } = await client.charge({
    subscriptionId,
    chargeId: 'usage',
    amount: '4.2',
  })
  expect(order).toMatchObject({ id: 'sub/1/usage', amount: '4.2' })
  const usage = { subscriptionId, chargeId: 'usage' }
  await expect(
    client.charge({ ...usage, amount: '4.3' }),
  ).rejects.toMatchObject({ reason: 'chargeConflict' })
  await expect(
    client.charge({ ...usage, chargeId: 'more', amount: '15.1' }),
  ).rejects.toMatchObject({ reason: 'exceedsAllowance', status: 422 })
  await workUntil(async () => (await charges())[0]?.state === 'captured')
  expect((await charges()).map(({ id }) => id)).toEqual([
    'sub/1/usage',
    'sub/1/period-1',
  ])

  await expect(client.restart({ subscriptionId })).rejects.toMatchObject({
    reason: 'notOpen',
  })
  const canceled = await client.cancel({ subscriptionId })
  expect(canceled.subscription.state).toBe('canceling')
  await workUntil(
    async () => (await client.get({ subscriptionId })).state === 'canceled',
  )
})

test('a merchant sees and changes no subscription of another recipient', async () => {
  const { clientOf, subscribe, account } = await openSubscriptionServer()
  const { id } = await subscribe({ recipient: account.address })
  const other = clientOf('other')
  const given = { subscriptionId: id }
  const signature = `0x${'11'.repeat(65)}` as const
  for (const ask of [
    () => other.get(given),
    () => other.accept({ ...given, signature }),
    () => other.charge({ ...given, chargeId: 'a' }),
    () => other.listCharges(given).next(),
    () => other.cancel(given),
    () => other.restart(given),
    () => other.get({ subscriptionId: 'nothing' }),
  ])
    await expect(ask()).rejects.toMatchObject({
      reason: 'subscriptionNotFound',
      status: 404,
    })
  expect((await other.list().next()).value).toEqual({ subscriptions: [] })
  const { value } = await clientOf('both').list({ limit: 5 }).next()
  expect(value?.subscriptions.map((one) => one.id)).toEqual([id])
  await expect(clientOf('nobody').get(given)).rejects.toMatchObject({
    status: 401,
  })
})

test('a draft names its recipient where there are several, and one of its own', async () => {
  const { clientOf, account } = await openSubscriptionServer()
  const draft = {
    account: account.address,
    amount: '10',
    period,
    periods: 2,
  }
  await expect(clientOf('both').draft(draft)).rejects.toMatchObject({
    reason: 'invalidField',
    field: 'recipient',
  })
  await expect(
    clientOf('other').draft({ ...draft, recipient: account.address }),
  ).rejects.toMatchObject({ reason: 'invalidField', field: 'recipient' })
  await expect(
    clientOf('own').draft({ ...draft, idempotencyKey: 'a'.repeat(64) }),
  ).rejects.toMatchObject({ field: 'Idempotency-Key' })
  await expect(
    clientOf('own').draft({ ...draft, amount: '1e3' }),
  ).rejects.toMatchObject({ field: 'amount' })
})
