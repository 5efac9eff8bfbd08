import type { DevChain } from 'countersign/devchain'
import { memoryStore } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyOrders } from '../../support/refundCopies.js'
import {
  carryToEnd,
  openRefundShop,
  price,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

test('an audit compares refunds with the chain, as it compares payments', async () => {
  const shop = await openRefundShop(chain)
  const { id } = await shop.sell()
  await requestRefund(shop.orders, id, 'one', '5')
  await carryToEnd(shop, id, 'one')
  await shop.orders.reconcile()
  expect(await shop.orders.audit()).toMatchObject({
    ok: true,
    destinations: [
      {
        chain: { count: 1, value: price },
        captured: { count: 1, value: price },
        refunded: { count: 1, value: 5_000_000n },
        differences: [],
      },
    ],
  })
  await shop.orders.close()
})

test('reconcile adopts the refunds that a restored database does not know, and the audit shows them before', async () => {
  const shop = await openRefundShop(chain)
  const { id } = await shop.sell()
  await shop.look()
  const backup = memoryStore()
  await copyOrders(shop.store, backup, shop.context.destinations)
  await requestRefund(shop.orders, id, 'lost', '5')
  const { transfer } = await carryToEnd(shop, id, 'lost')
  await shop.orders.close()

  const { orders } = await openRefundShop(chain, {
    store: backup,
    account: shop.account,
  })
  expect(await orders.audit()).toMatchObject({
    ok: false,
    destinations: [
      {
        differences: [
          {
            transactionHash: transfer?.transactionHash,
            onChain: 5_000_000n,
            onRecord: undefined,
          },
        ],
      },
    ],
  })
  await orders.reconcile()
  await orders.reconcile()
  expect(await orders.audit()).toMatchObject({ ok: true })
  expect(await orders.get({ orderId: id })).toMatchObject({
    refunded: 5_000_000n,
    refundable: price - 5_000_000n,
    refunds: [{ state: 'succeeded', amount: '5' }],
  })
  await orders.close()
})
