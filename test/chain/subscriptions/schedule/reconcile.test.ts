import { createClient, custom } from 'viem'
import { mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { usedTopic } from '../../../../src/subscriptions/charges/findUses.js'
import { spendCall } from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import {
  chargesOf,
  openSubscriptionShop,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

/** Charges a subscription without the record. */
async function chargeUnrecorded(
  { subscriptions, account }: SubscriptionShop,
  subscriptionId: string,
  chargeId: string,
): Promise<void> {
  const { permission } = await subscriptions.get({ subscriptionId })
  const call = spendCall(permission, { value: 1_000_000n, chargeId })
  await send(chain, { account, ...call })
}

/** How many charges of a subscription are paid on record. */
const countPaid = async (shop: SubscriptionShop, id: string) =>
  (await chargesOf(shop, id)).filter(([, state]) => state === 'captured').length

test('a run reads the charges of the blocks since the last run, and reconcile those of all blocks', async () => {
  const froms: bigint[] = []
  const request = async (sent: { method: string; params?: unknown }) => {
    const [filter] = Object(sent.params)
    const { topics: [topic, hash] = [], fromBlock } = Object(filter)
    if (topic === usedTopic && hash === null) froms.push(BigInt(fromBlock))
    return chain.clients.public.request(sent as never)
  }
  const transport = custom({ request }, { retryCount: 0 })
  const client = createClient({ chain: chain.chain, transport })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe({ allowance: '100' })
  await shop.subscriptions.charge({
    subscriptionId: id,
    chargeId: 'a',
    amount: '1',
  })
  await shop.workUntil(async () => (await countPaid(shop, id)) === 1)
  await chargeUnrecorded(shop, id, 'b')
  await mine(chain.clients.test, { blocks: 200 })
  await shop.workUntil(async () => (await countPaid(shop, id)) === 2)
  await chargeUnrecorded(shop, id, 'c')
  await shop.workUntil(async () => (await countPaid(shop, id)) === 3)
  const [first = 0n, second = 0n, third = 0n] = froms
  expect(second).toBeGreaterThanOrEqual(first)
  expect(third).toBeGreaterThan(second + 100n)
  await shop.subscriptions.reconcile()
  expect(froms.at(-1)).toBe(first)
})

test('a subscription whose permission cannot be read holds up the reconciliation of no other', async () => {
  const shop = await openSubscriptionShop(chain)
  const broken = await shop.subscribe({ allowance: '100' })
  const { id } = await shop.subscribe({ allowance: '100' })
  const charge = { subscriptionId: id, chargeId: 'a', amount: '1' }
  await shop.subscriptions.charge(charge)
  await shop.workUntil(async () => (await countPaid(shop, id)) === 1)
  await chargeUnrecorded(shop, id, 'b')
  await shop.store.write(async ({ subscriptions }) => {
    const [row] = await subscriptions.find({ ids: [broken.id] })
    if (row) await subscriptions.update([{ ...row, permission: {} as never }])
  })
  expect(await shop.subscriptions.reconcile()).toEqual({
    settled: 0,
    adopted: 1,
  })
})
