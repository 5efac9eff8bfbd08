import { cancelPayment, type SignedPayment } from 'countersign'
import { expect, test } from 'vitest'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import { draft, fakeNode, mined, revoke } from '../../support/desk.js'
import { chain } from '../../support/reconcileChain.js'
import { mineBlocks, orderOf, watchOf } from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

/** A shop with open orders, and the nonces it asks its node about. */
async function openShop(orders: number) {
  const { client, asked } = fakeNode(chain)
  const context = contextOf(chain, { tokens: [{ client, token: chain.token }] })
  await reconcile(context)
  const payments: SignedPayment[] = []
  const ids: string[] = []
  for (let at = 0; at < orders; at++) {
    const payment = await draft(chain)
    payments.push(payment)
    ids.push(await putOrder(context, payment))
  }
  const takeNonces = () =>
    asked
      .splice(0)
      .filter(({ method }) => method === 'eth_getLogs')
      .flatMap(({ params }) => {
        const { topics } = Object(Array.isArray(params) ? params[0] : {})
        return Array.isArray(topics?.[2]) ? topics[2] : []
      })
  takeNonces()
  const states = () =>
    Promise.all(ids.map(async (id) => (await orderOf(context, id)).state))
  const watch = () =>
    watchOf(context, {
      reconcileEvery: 0,
      mostOpen: 2,
    })
  return { context, payments, takeNonces, states, watch }
}

async function cancel(payment: SignedPayment | undefined): Promise<void> {
  if (!payment) throw new Error('There is no payment.')
  const cancellation = await revoke(chain, payment)
  await mined(chain, cancelPayment(chain.clients.relayer, { cancellation }))
}

test('with many open orders each reconciliation asks about some of them, and another process goes on where it ended', async () => {
  const { payments, takeNonces, states, watch } = await openShop(5)
  const nonces = payments.map(({ message }) => message.nonce)
  await watch().look()
  expect(takeNonces()).toEqual(nonces.slice(0, 2))
  // The walk has passed the first one, and gets to the last one.
  await cancel(payments[0])
  await cancel(payments[4])
  // More than a reconciliation reads again.
  await mineBlocks(chain, 70)
  const other = watch()
  await other.look()
  expect(takeNonces()).toEqual(nonces.slice(2, 4))
  await mineBlocks(chain, 70)
  await other.look()
  expect(takeNonces()).toEqual(nonces.slice(4))
  await mineBlocks(chain, 70)
  await other.look()
  expect(takeNonces()).toEqual(nonces.slice(0, 2))
  const open = ['stored', 'stored', 'stored']
  expect(await states()).toEqual(['canceled', ...open, 'canceled'])
})

test('reconcile asks about all open orders in one call', async () => {
  const { context, payments, takeNonces, states, watch } = await openShop(3)
  await watch().look()
  takeNonces()
  await cancel(payments[0])
  await cancel(payments[2])
  const [report] = (await reconcile(context)).destinations
  expect(report?.canceled).toBe(2)
  expect(takeNonces()).toHaveLength(3)
  expect(await states()).toEqual(['canceled', 'stored', 'canceled'])
})
