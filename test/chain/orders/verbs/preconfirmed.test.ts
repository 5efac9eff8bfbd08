import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { eventsOf, openShop, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ preconfirmations: 'flashblocks' })
afterAll(() => chain.stop())

/** Looks until the chain has shown what is waited for. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((done) => setTimeout(done, 20))
}

test('a capture is told of in pre-confirmed state before a block has it', async () => {
  const shop = await openShop(chain)
  const { id } = await storedOrder(chain, shop)
  const { orders } = shop
  const captured = orders.capture({ orderId: id })
  await until(
    async () => (await orders.get({ orderId: id })).preconfirmed !== undefined,
  )
  const seen = await orders.get({ orderId: id })
  expect(seen).toMatchObject({ state: 'capturing', capture: undefined })
  const result = await captured
  expect(result).toMatchObject({
    status: 'captured',
    order: { preconfirmed: undefined },
    proof: { transactionHash: seen.preconfirmed, finality: 'included' },
  })
  expect(await eventsOf(shop, id)).toEqual([
    'drafted',
    'accepted',
    'captureRequested',
    'capturing',
    'preconfirmed',
    'captured',
  ])
})

test('a capture dropped from the block being made is sent again, and settles once', async () => {
  const own = await startDevChain({
    preconfirmations: 'flashblocks',
    blockTime: 0,
    tick: 0,
  })
  try {
    const shop = await openShop(own)
    const { orders } = shop
    const { id } = await storedOrder(own, shop)
    const captured = orders.capture({ orderId: id })
    const isShown = async () => {
      await own.preconfirmations.tick()
      return (await orders.get({ orderId: id })).preconfirmed !== undefined
    }
    await until(isShown)
    await own.preconfirmations.dropPending()
    const isSealed = async () => {
      await own.preconfirmations.tick()
      await own.preconfirmations.seal()
      return (await orders.get({ orderId: id })).state === 'captured'
    }
    await until(isSealed)
    expect((await captured).status).toBe('captured')
    expect((await orders.audit()).ok).toBe(true)
  } finally {
    await own.stop()
  }
})
