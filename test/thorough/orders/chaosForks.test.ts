import { cancelPayment, capturePayment, signCapture } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import type { OrdersPolicy } from 'countersign/orders'
import { afterAll, expect, test } from 'vitest'
import { auditOrders } from '../../../src/orders/verbs/auditOrders.js'
import { draft, mined, revoke } from '../../chain/support/desk.js'
import {
  mineBlocks,
  orderOf,
  typesOf,
  watcherOf,
} from '../../chain/support/watching.js'
import { contextOf, putOrder } from '../../chain/support/watchRows.js'

const chain = await startDevChain({ blockTime: 0, epochBlocks: 50 })
const { merchant, relayer, public: reader, test: control } = chain.clients
afterAll(() => chain.stop())

/**
 * A capture that one fork has; another one has not, and goes on until the
 * window is over; then one that has it wins after all.
 */
async function loseAndRegain(policy: OrdersPolicy) {
  const context = contextOf(chain, { policy })
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const look = watcherOf(context)
  await look()
  const { raw } = await signCapture(merchant, { payment })
  const mineCapture = async (blocks: number) => {
    await reader.sendRawTransaction({ serializedTransaction: raw })
    await mineBlocks(chain, blocks)
    await look()
  }
  const fork = await control.snapshot()
  await mineCapture(1)
  expect(await orderOf(context, id)).toMatchObject({ state: 'captured' })
  await control.revert({ id: fork })
  const other = await control.snapshot()
  await chain.warp(3_600)
  await mineBlocks(chain, 3)
  await look()
  expect(await orderOf(context, id)).toMatchObject({ state: 'expired' })
  await control.revert({ id: other })
  await mineCapture(6)
  return { context, id }
}

test('a fulfilled order whose capture is lost and comes back is owed no refund', async () => {
  const { context, id } = await loseAndRegain({ fulfilAt: 'included' })
  expect(await orderOf(context, id)).toMatchObject({
    state: 'captured',
    unexpected: false,
  })
  expect(await typesOf(context, id)).toEqual([
    ...['captured', 'fulfil', 'reorged', 'expired', 'lossAfterFulfilment'],
    'captured',
  ])
  expect((await auditOrders(context)).ok).toBe(true)
})

test('a fulfilled order that a fork cancels, or spends on something else, is told as a loss', async () => {
  const context = contextOf(chain, { policy: { fulfilAt: 'included' } })
  const look = watcherOf(context)
  const payments = [await draft(chain), await draft(chain)] as const
  const ids = [
    await putOrder(context, payments[0]),
    await putOrder(context, payments[1]),
  ]
  await look()
  const fork = await control.snapshot()
  for (const payment of payments)
    await mined(chain, capturePayment(merchant, { payment }))
  await mineBlocks(chain, 1)
  await look()
  await control.revert({ id: fork })
  const [canceled, spent] = payments
  const cancellation = await revoke(chain, canceled)
  await mined(chain, cancelPayment(relayer, { cancellation }))
  const { nonce } = spent.message
  const payment = await draft(chain, { amount: '1', nonce })
  await mined(chain, capturePayment(merchant, { payment }))
  await mineBlocks(chain, 4)
  await look()
  const lost = ['captured', 'fulfil', 'reorged']
  expect(await Promise.all(ids.map((id) => typesOf(context, id)))).toEqual([
    [...lost, 'canceled', 'lossAfterFulfilment'],
    [...lost, 'consumed', 'lossAfterFulfilment'],
  ])
})

test('an order given up before it was fulfilled is owed a refund when a fork pays it', async () => {
  const { context, id } = await loseAndRegain({ fulfilAt: 'safe' })
  expect(await orderOf(context, id)).toMatchObject({
    state: 'captured',
    unexpected: true,
  })
  expect(await typesOf(context, id)).toEqual([
    ...['captured', 'reorged', 'expired', 'captured', 'refundDue'],
  ])
})
