import { startDevChain } from 'countersign/devchain'
import { getBlock } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import { balanceOf, price, requestRefund } from '../../support/refundDesk.js'
import { openShop, storedOrder } from '../../support/shop.js'
import {
  mineBlocks,
  orderOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'

const chain = await startDevChain({ blockTime: 0, epochBlocks: 50 })
afterAll(() => chain.stop())

/** A shop that sends when it is asked to, and one watcher that stays alive. */
async function openWatched(changes: Parameters<typeof openShop>[1] = {}) {
  const shop = await openShop(chain, {
    policy: { fulfilAt: 'included', pollingInterval: 20 },
    ...changes,
  })
  const { context } = contextOf(shop.orders)
  const look = watcherOf(context)
  await look()
  const capture = async (orderId: string) => {
    const { status } = await shop.orders.capture({ orderId })
    expect(status).toBe('captured')
  }
  const stateOf = async (id: string) => (await orderOf(context, id)).state
  const typesOfOrder = (id: string) => typesOf(context, id)
  return { ...shop, context, look, capture, stateOf, typesOfOrder }
}

test.each(['included', 'safe'] as const)(
  'a capture whose block is replaced before any look is taken back and sent again, fulfilled at %s',
  async (fulfilAt) => {
    const policy = { fulfilAt, pollingInterval: 20 }
    const shop = await openWatched({ policy })
    const { orders, look, capture, stateOf, seller } = shop
    const { id } = await storedOrder(chain, shop)
    await capture(id)
    await chain.reorg({ depth: 1, transactions: 'dropped' })
    expect(await balanceOf(chain, seller)).toBe(0n)
    await look()
    expect(await stateOf(id)).toBe('capturing')
    expect(await shop.typesOfOrder(id)).not.toContain('fulfil')
    await capture(id)
    await look()
    await look()
    expect(await balanceOf(chain, seller)).toBe(price)
    const fulfilled = (await shop.typesOfOrder(id)).filter(
      (type) => type === 'fulfil',
    )
    expect(fulfilled).toHaveLength(fulfilAt === 'included' ? 1 : 0)
    expect((await orders.audit()).ok).toBe(true)
    await orders.close()
  },
)

test('a capture that moves to another block before any look is on record there', async () => {
  const shop = await openWatched()
  const { id } = await storedOrder(chain, shop)
  await shop.capture(id)
  await chain.reorg({ depth: 1 })
  await mineBlocks(chain, 1)
  await shop.look()
  const { capture } = await shop.orders.get({ orderId: id })
  const { hash } = await getBlock(chain.clients.public, {
    blockNumber: capture?.blockNumber ?? 0n,
  })
  expect(capture?.blockHash).toBe(hash)
  expect((await shop.orders.audit()).ok).toBe(true)
  await shop.look()
  expect(await shop.typesOfOrder(id)).toContain('fulfil')
  await shop.orders.close()
})

test('a refund whose block is replaced before any look is taken back and sent again', async () => {
  const shop = await openWatched()
  const { orders, look, capture, seller } = shop
  const { id, buyer } = await storedOrder(chain, shop)
  await capture(id)
  await mineBlocks(chain, 150)
  await requestRefund(orders, id, 'one')
  const readState = async () =>
    (await orders.getRefund({ orderId: id, refundId: 'one' })).state
  const stop = new AbortController()
  const run = orders.run({ signal: stop.signal })
  await expect.poll(readState).toBe('succeeded')
  stop.abort()
  await run
  await look()
  await mineBlocks(chain, 1)
  await chain.reorg({ depth: 3, transactions: 'dropped' })
  await mineBlocks(chain, 3)
  await look()
  expect(await readState()).toBe('sending')
  expect(await balanceOf(chain, buyer.address)).toBe(0n)
  expect(await balanceOf(chain, seller)).toBe(price)
  await orders.close()
})
