import { createReadClient } from 'countersign/reads'
import { type Client, createClient, custom } from 'viem'
import { mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { usedTopic } from '../../../../src/subscriptions/charges/findUses.js'
import { spendCall } from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import { type Asked, rpcError } from '../../support/desk.js'
import { startSilentNode } from '../../support/silentNode.js'
import {
  chargesOf,
  openSubscriptionShop,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

/** Charges a subscription without the record. Resolves to the receipt. */
async function chargeUnrecorded(
  { subscriptions, account }: SubscriptionShop,
  subscriptionId: string,
  chargeId: string,
): ReturnType<typeof send> {
  const { permission } = await subscriptions.get({ subscriptionId })
  const call = spendCall(permission, { value: 1_000_000n, chargeId })
  return send(chain, { account, ...call })
}

/** A client whose requests fail while they are told to. */
function failingClient(): {
  client: Client
  /** The first blocks of the requests for all charges of a manager. */
  froms: bigint[]
  fail(isFailing: (asked: Asked) => boolean): void
} {
  const froms: bigint[] = []
  let isFailing = (_: Asked) => false
  const request = async (asked: Asked) => {
    const [filter] = Object(asked.params)
    const { topics: [topic, hash] = [], fromBlock } = Object(filter)
    if (topic === usedTopic && hash === null) froms.push(BigInt(fromBlock))
    if (isFailing(asked)) throw rpcError(-32603, 'internal error')
    return chain.clients.public.request(asked as never)
  }
  return {
    client: createClient({
      chain: chain.chain,
      transport: custom({ request }, { retryCount: 0 }),
    }),
    froms,
    fail: (next) => {
      isFailing = next
    },
  }
}

const names = ({ params }: Asked, text: string) =>
  JSON.stringify(params).includes(text)

/** How many charges of a subscription are paid on record. */
const countPaid = async (shop: SubscriptionShop, id: string) =>
  (await chargesOf(shop, id)).filter(([, state]) => state === 'captured').length

test('a run reads the charges of the blocks since the last run, and reconcile those of all blocks', async () => {
  const { client, froms } = failingClient()
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

test('a node that never answers holds up the reconciliation of no other destination', async () => {
  const node = await startSilentNode(chain.urls.http)
  const client = createReadClient({
    chain: chain.chain,
    url: node.url,
    timeout: 600_000,
  })
  const token = '0x00000000000000000000000000000000000000aa'
  // Its node is asked second.
  const shop = await openSubscriptionShop(chain, {
    changes: { client, tokens: [{ client: chain.clients.public, token }] },
  })
  const { id } = await shop.subscribe({
    allowance: '100',
    token: chain.token,
  })
  const charge = { subscriptionId: id, chargeId: 'a', amount: '1' }
  await shop.subscriptions.charge(charge)
  await shop.workUntil(async () => (await countPaid(shop, id)) === 1)
  await chargeUnrecorded(shop, id, 'b')
  // Its manager has the charges of this recipient in every token.
  await shop.store.write(async ({ orders, subscriptions }) => {
    const [row] = await subscriptions.find({ ids: [id] })
    const [order] = await orders.find({ ids: [id] })
    if (!row || !order) throw new Error(`no subscription ${id}`)
    await subscriptions.insert([{ ...row, id: 'other', token }])
    await orders.insert([{ ...order, id: 'other', token }])
  })
  node.silence(() => true)
  void shop.subscriptions.reconcile().catch(() => undefined)
  await expect.poll(() => countPaid(shop, id), { timeout: 20_000 }).toBe(2)
  expect(node.waiting()).toBeGreaterThan(0)
})

test('a manager whose charges cannot be read holds up the reconciliation of no other manager', async () => {
  const { client, fail } = failingClient()
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id, wallet } = await shop.subscribe({ allowance: '100' })
  await shop.subscriptions.charge({
    subscriptionId: id,
    chargeId: 'a',
    amount: '1',
  })
  await shop.workUntil(async () => (await countPaid(shop, id)) === 1)
  const otherManager = '0x00000000000000000000000000000000000000bb'
  await shop.subscriptions.draft({
    account: wallet.address,
    amount: '10',
    period: 1000n,
    periods: 12,
    manager: otherManager,
  })
  fail((asked) => names(asked, otherManager))
  await chargeUnrecorded(shop, id, 'b')
  await expect(shop.subscriptions.reconcile()).rejects.toMatchObject({
    name: 'NodeError',
  })
  expect(await countPaid(shop, id)).toBe(2)
  await chargeUnrecorded(shop, id, 'c')
  await shop.workUntil(async () => (await countPaid(shop, id)) === 3)
})

test('a charge that cannot be read delays no other of its permission, and only its own block is read again until it is found', async () => {
  const { client, froms, fail } = failingClient()
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe({ allowance: '100' })
  await shop.subscriptions.charge({
    subscriptionId: id,
    chargeId: 'first',
    amount: '1',
  })
  await shop.workUntil(async () => (await countPaid(shop, id)) === 1)
  const hidden = await chargeUnrecorded(shop, id, 'hidden')
  fail((asked) => names(asked, hidden.transactionHash))
  await mine(chain.clients.test, { blocks: 200 })
  await chargeUnrecorded(shop, id, 'b')
  await mine(chain.clients.test, { blocks: 200 })
  await shop.workUntil(async () => (await countPaid(shop, id)) === 2)
  froms.length = 0
  await chargeUnrecorded(shop, id, 'c')
  await shop.workUntil(
    async () => froms.length > 1 && (await countPaid(shop, id)) === 3,
  )
  const blockNumber = BigInt(hidden.blockNumber)
  const [next = 0n, ...again] = froms
  expect(next).toBeGreaterThan(blockNumber + 200n)
  expect(again).toEqual([blockNumber])
  await expect(shop.subscriptions.reconcile()).rejects.toMatchObject({
    name: 'NodeError',
  })
  fail(() => false)
  await shop.workUntil(async () => (await countPaid(shop, id)) === 4)
  froms.length = 0
  await chargeUnrecorded(shop, id, 'd')
  await shop.workUntil(async () => (await countPaid(shop, id)) === 5)
  expect(froms).toHaveLength(1)
})
