import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { captureOrder } from '../../src/orders/captureOrder.js'
import { fundedAccount } from './desk.js'
import { openShop, type Shop, storeOrders } from './orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const capture = (shop: Shop, orderId: string | undefined, timeout?: number) =>
  captureOrder(shop.context, shop.engine, {
    orderId: orderId ?? '',
    ...(timeout === undefined ? {} : { timeout }),
  })

test('a stored payment is captured, with its proof', async () => {
  const shop = openShop(chain, { account: await fundedAccount(chain) })
  const [orderId] = await storeOrders(shop, 1)
  const result = await capture(shop, orderId, 10_000)
  expect(result).toMatchObject({ status: 'captured' })
})
