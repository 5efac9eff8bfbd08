import type { DevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeNode } from '../../support/desk.js'
import {
  openRefundShop,
  policy,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

test('a refund whose payment has no receipt at the node any more is reported, and goes on once it has', async () => {
  let isPruned = false
  const { client } = fakeNode(chain, async ({ method }, forward) =>
    method === 'eth_getTransactionReceipt' && isPruned ? null : forward(),
  )
  const failed: unknown[] = []
  const shop = await openRefundShop(chain, {
    changes: {
      policy,
      client,
      observe: ({ name, attributes }) => {
        if (name === 'watch.failed') failed.push(attributes.words)
      },
    },
  })
  const { id } = await shop.sell()
  await shop.workUntil(async () => {
    const { capture } = await shop.orders.get({ orderId: id })
    return capture?.finality === 'finalized'
  })
  isPruned = true
  await requestRefund(shop.orders, id, 'one')
  const get = () => shop.orders.getRefund({ orderId: id, refundId: 'one' })
  await shop.look()
  await shop.look()
  expect((await get()).state).toBe('requested')
  expect(failed.map(String).join()).toContain('eth_getTransactionReceipt')
  isPruned = false
  await shop.workUntil(async () => (await get()).state === 'succeeded')
  await shop.orders.close()
})
