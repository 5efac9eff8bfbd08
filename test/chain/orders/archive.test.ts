import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DevChain } from 'countersign/devchain'
import { toHledger } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import { memoryStore } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contextOf } from '../../../src/orders/contextOf.js'
import { archiveOrders } from '../../../src/orders/verbs/archiveOrders.js'
import { fundedAccount } from '../support/desk.js'
import { judgeJournal } from '../support/hledger.js'
import {
  carryToEnd,
  openRefundShop,
  price,
  type RefundShop,
  requestRefund,
  startRefundChain,
} from '../support/refundDesk.js'
import { pay } from '../support/shop.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-archive-'))
let chain: DevChain

beforeAll(async () => {
  chain = await startRefundChain()
})

afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

const openShop = (name: string) =>
  openRefundShop(chain, { store: sqliteStore({ file: join(folder, name) }) })

/** Archives as on a day when all orders are older than a day. */
function archiveLater({ orders }: RefundShop) {
  const { context } = contextOf(orders)
  const now = () => BigInt(Date.now()) + 10n * 86_400_000n
  return archiveOrders({ ...context, now }, { olderThan: 86_400 })
}

/** Sells until the worker knows that the payments are final. */
async function sellFinal(shop: RefundShop, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let sold = 0; sold < count; sold++) ids.push((await shop.sell()).id)
  const isFinal = async () => {
    const found = ids.map((orderId) => shop.orders.get({ orderId }))
    const all = await Promise.all(found)
    return all.every(({ capture }) => capture?.finality === 'finalized')
  }
  await shop.workUntil(isFinal)
  return ids
}

async function read(shop: RefundShop, ids: readonly string[]) {
  const { orders } = shop
  let journal = ''
  for await (const line of toHledger(orders.ledger({ transfers: true })))
    journal += line
  return {
    shown: await Promise.all(ids.map((orderId) => orders.get({ orderId }))),
    listed: await orders.list(),
    captured: await orders.list({ states: ['captured'], limit: 1 }),
    events: await orders.events({ limit: 1_000 }),
    counts: (await orders.health()).destinations[0]?.counts,
    journal,
    audit: await orders.audit(),
  }
}

test('an archived order is shown, audited and in the books as before', async () => {
  const shop = await openShop('shown.db')
  const ids = await sellFinal(shop, 3)
  await shop.orders.draft({ amount: '1' })
  const before = await read(shop, ids)
  expect(await shop.orders.archive({ olderThan: 86_400 })).toEqual({
    archived: 0,
  })
  expect(await archiveLater(shop)).toEqual({ archived: 3 })
  expect(await read(shop, ids)).toEqual(before)
  expect(before.audit).toMatchObject({ ok: true })
  const { read: own, judged } = await judgeJournal(before.journal)
  expect(judged ?? own).toEqual(own)
  const [orderId = ''] = ids
  expect(await shop.orders.capture({ orderId })).toMatchObject({
    status: 'captured',
  })
  await expect(
    shop.orders.draft({ orderId, amount: '2' }),
  ).rejects.toMatchObject({ name: 'InvalidFieldError' })
  await shop.orders.close()
})

test('an archived order is refunded, and archived again', async () => {
  const shop = await openShop('refunded.db')
  const [id = ''] = await sellFinal(shop, 2)
  await shop.orders.draft({ amount: '1' })
  expect(await archiveLater(shop)).toEqual({ archived: 2 })
  await requestRefund(shop.orders, id, 'one', '5')
  await shop.orders.draft({ amount: '1' })
  expect(await carryToEnd(shop, id, 'one')).toMatchObject({
    state: 'succeeded',
  })
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    refunded: 5_000_000n,
  })
  expect(await shop.orders.audit()).toMatchObject({ ok: true })
  // The order and its refund.
  expect(await archiveLater(shop)).toEqual({ archived: 2 })
  expect(
    await shop.orders.getRefund({ orderId: id, refundId: 'one' }),
  ).toMatchObject({ state: 'succeeded' })
  const rest = await requestRefund(shop.orders, id, 'two')
  expect(rest).toMatchObject({ amount: '7.5' })
  expect(await carryToEnd(shop, id, 'two')).toMatchObject({
    state: 'succeeded',
  })
  expect(await shop.orders.audit()).toMatchObject({ ok: true })
  await shop.orders.close()
})

test('an archived order that nobody paid is offered and paid again', async () => {
  const shop = await openShop('drafts.db')
  const { order } = await shop.orders.draft({ amount: '12.50' })
  await shop.orders.draft({ amount: '1' })
  await chain.warp(1_000)
  const orderId = order.id
  const get = () => shop.orders.get({ orderId })
  await shop.workUntil(async () => (await get()).state === 'expired')
  await shop.look()
  expect(await archiveLater(shop)).toEqual({ archived: 1 })
  const again = await shop.orders.reauthorize({ orderId })
  if (!again.ok) throw new Error(again.reason)
  const buyer = await fundedAccount(chain, price)
  const signed = await pay(buyer, again.payment)
  const verdict = await shop.orders.accept({ orderId, payment: signed })
  expect(verdict).toMatchObject({ ok: true })
  expect(await shop.orders.capture({ orderId })).toMatchObject({
    status: 'captured',
  })
  await shop.orders.close()
})

test('archive refuses a malformed age, and moves nothing in memory', async () => {
  const { orders } = await openRefundShop(chain, { store: memoryStore() })
  for (const olderThan of [0, -1, 1.5, '90', undefined])
    await expect(orders.archive({ olderThan } as never)).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field: 'olderThan' },
    })
  expect(await orders.archive({ olderThan: 1 })).toEqual({ archived: 0 })
  await orders.close()
})
