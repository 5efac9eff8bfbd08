import { capturePayment } from 'countersign'
import { permitCheckout } from 'countersign/checkout'
import { createOrders, type Orders } from 'countersign/orders'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getTransactionReceipt } from 'viem/actions'
import { expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import type { CeilingShop } from '../../support/ceilingShop.js'
import { chain, merchant } from '../../support/checkoutDesk.js'
import { frontRun, mineSent } from '../../support/frontRun.js'
import { permitPayer } from '../../support/permitDesk.js'
import {
  cancelPermitCall,
  client,
  openPermitShop,
  signedAgain,
  storedPermit,
} from '../../support/permitShop.js'
import {
  fileOf,
  mineBlocks,
  watcherOf,
  watchOf,
} from '../../support/watching.js'

const insideOf = ({ orders }: { orders: Orders }) => contextOf(orders).context

const stateOf = async ({ orders }: { orders: Orders }, orderId: string) =>
  (await orders.get({ orderId })).state

/** Blocks until one is final. */
const enough = 100

/**
 * Sends a capture, and before it is mined, ends its permit in the same block.
 * So the capture reverts.
 */
async function sendTooLate(
  shop: CeilingShop,
  payer: PrivateKeyAccount,
): Promise<{ id: string; capturing: ReturnType<Orders['capture']> }> {
  const { id, payment } = await storedPermit(shop, payer)
  const { signature: _, ...unsigned } = payment
  const call = await cancelPermitCall(payer, unsigned)
  const { working: capturing } = await frontRun(chain, call, () =>
    shop.orders.capture({ orderId: id, amount: '1' }),
  )
  return { id, capturing }
}

/** The bytes on record of the transactions of an order. */
async function bytesOf(shop: CeilingShop, id: string) {
  const { transactions } = await fileOf(insideOf(shop), id)
  return transactions.map(({ raw, inFlight }) => ({ raw, inFlight }))
}

const erased = [{ raw: undefined, inFlight: false }]

/** An order whose only capture reverted, and whose permit is over. */
async function revertedOrder(shop: CeilingShop) {
  const { id, capturing } = await sendTooLate(shop, await permitPayer())
  await mineSent(chain)
  expect(await capturing).toMatchObject({ status: 'rejected' })
  const [sent] = (await fileOf(insideOf(shop), id)).transactions
  if (!sent?.hash) throw new Error('nothing was sent')
  const { status } = await getTransactionReceipt(client, { hash: sent.hash })
  expect(status).toBe('reverted')
  expect(sent.raw).toBeDefined()
  return id
}

test('once a permit is over for good, the watcher erases the bytes of its reverted capture', async () => {
  const shop = await openPermitShop()
  const id = await revertedOrder(shop)
  await mineBlocks(chain, enough)
  await watcherOf(insideOf(shop))()
  expect(await stateOf(shop, id)).toBe('canceled')
  expect(await bytesOf(shop, id)).toEqual(erased)
})

test('a capture that is found reverted when its permit is over for good leaves no bytes', async () => {
  const shop = await openPermitShop()
  const { id, capturing } = await sendTooLate(shop, await permitPayer())
  await shop.orders.close()
  await capturing.catch(() => undefined)
  await mineSent(chain, enough)
  const later = { ...shop, orders: createOrders(shop.parameters) }
  expect(await later.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
  })
  expect(await bytesOf(later, id)).toEqual(erased)
})

test('with many open orders each reconciliation asks about the permits among some of them, and the next one goes on', async () => {
  const shop = await openPermitShop()
  const payers = await Promise.all([
    permitPayer(),
    permitPayer(),
    permitPayer(),
  ])
  const ids: string[] = []
  for (const payer of payers) {
    const { id } = await storedPermit(shop, payer)
    ids.push(id)
    const { payment } = await signedAgain(shop, id, payer)
    await capturePayment(merchant, {
      payment,
      kind: permitCheckout,
      amount: '3',
    })
  }
  await mineBlocks(chain, 1)
  const context = insideOf(shop)
  const watcher = watchOf(context, {
    reconcileEvery: 0,
    mostOpen: 2,
  })
  const states = () => Promise.all(ids.map((id) => stateOf(shop, id)))
  await watcher.look()
  expect(await states()).toEqual(['captured', 'captured', 'stored'])
  // The first two are settled, so the next part begins with the third.
  await watcher.look()
  await watcher.look()
  expect(await states()).toEqual(['captured', 'captured', 'captured'])
  expect(await shop.orders.audit()).toMatchObject({ ok: true })
})
