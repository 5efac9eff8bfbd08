import { afterAll, expect, test } from 'vitest'
import { inventing, moved, startPending } from '../../support/inventedHashes.js'
import { eventsOf, openShop, storedOrder } from '../../support/shop.js'

const chain = await startPending()
afterAll(() => chain.stop())

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

type Shown = { preconfirmed?: unknown; state: string }

async function untilShown(get: () => Promise<Shown>): Promise<void> {
  for (;;) {
    const { preconfirmed, state } = await get()
    if (preconfirmed !== undefined || state === 'captured') return
    await chain.preconfirmations.tick()
    await pause()
  }
}

test('a receipt of the pending block that names a block hash is a pre-confirmation and no capture', async () => {
  const { client } = inventing(chain)
  const shop = await openShop(chain, { client })
  const { orders } = shop
  const { id } = await storedOrder(chain, shop)
  const captured = orders.capture({ orderId: id })
  const get = () => orders.get({ orderId: id })
  await untilShown(get)
  // Many polls later, it is still no capture.
  for (let polls = 0; polls < 20; polls++) await pause()
  const { preconfirmed, state } = await get()
  expect(state).toBe('capturing')
  await chain.preconfirmations.seal()
  const { hash } = await chain.clients.public.getBlock()
  expect(await captured).toMatchObject({
    status: 'captured',
    proof: { transactionHash: preconfirmed, blockHash: hash },
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

test('a capture whose receipt names a hash that is not its block’s waits for one that does', async () => {
  let isMoved = true
  const { client } = inventing(chain, (receipt) =>
    isMoved ? moved(receipt) : receipt,
  )
  const shop = await openShop(chain, { client })
  const { orders } = shop
  const { id } = await storedOrder(chain, shop)
  const captured = orders.capture({ orderId: id })
  const get = () => orders.get({ orderId: id })
  await untilShown(get)
  // Three blocks above it, so that the newest one does not show its hash.
  for (let blocks = 0; blocks < 4; blocks++) await chain.preconfirmations.seal()
  for (let polls = 0; polls < 20; polls++) await pause()
  expect((await get()).state).toBe('capturing')
  isMoved = false
  expect((await captured).status).toBe('captured')
})
