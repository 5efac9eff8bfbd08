import type { DevChain } from 'countersign/devchain'
import type { Order, Orders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import type { Hash } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomHash } from '../../support/desk.js'
import {
  carryToEnd,
  openRefundShop,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { openSqlite } from '../../support/sqliteFiles.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

const idsOf = (orders: readonly Order[]) => orders.map(({ id }) => id)

test.each([
  ['memory', () => memoryStore()],
  ['SQLite', openSqlite],
])(
  'an order is found in %s by each transaction of it, and by no other',
  async (_, open) => {
    const store = open()
    const shop = await openRefundShop(chain, { store })
    const { id } = await shop.sell()
    const other = await shop.sell()
    await requestRefund(shop.orders, id, 'one', '5')
    const refund = await carryToEnd(shop, id, 'one')
    const { capture, payer } = await shop.orders.get({ orderId: id })
    const captured = capture?.transactionHash ?? '0x'
    const refunded = refund.transfer?.transactionHash ?? '0x'
    const find = async (
      transaction: Hash,
      more: Parameters<Orders['list']>[0] = {},
    ) => idsOf((await shop.orders.list({ transaction, ...more })).orders)
    expect(await find(captured)).toEqual([id])
    expect(await find(refunded)).toEqual([id])
    expect(
      await find(captured.toUpperCase().replace('X', 'x') as Hash),
    ).toEqual([id])
    expect(await find(randomHash())).toEqual([])
    expect(await find(captured, { states: ['captured'], payer })).toEqual([id])
    expect(await find(captured, { states: ['stored'] })).toEqual([])
    expect(await find(captured, { payer: shop.seller })).toEqual([])
    const { cursor } = await shop.orders.list({ limit: 1 })
    expect(await find(captured, { before: cursor })).toEqual([id])
    expect(idsOf((await shop.orders.list({ limit: 1 })).orders)).toEqual([
      other.id,
    ])

    const stranger = await openRefundShop(chain, { store })
    const { orders } = await stranger.orders.list({ transaction: captured })
    expect(orders).toEqual([])
    await stranger.orders.close()
    await shop.orders.close()
  },
)

test('what is no transaction hash is refused by name', async () => {
  const { orders } = await openRefundShop(chain)
  for (const transaction of ['0x1', 7, null])
    await expect(orders.list({ transaction } as never)).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field: 'transaction' },
    })
  await orders.close()
})
