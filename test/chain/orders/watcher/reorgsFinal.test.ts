import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { eventsOf, openShop, rowsOf, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
const { test: control } = chain.clients
afterAll(() => chain.stop())

const until = (work: () => Promise<unknown>) =>
  expect.poll(work, { timeout: 30_000 })

test('a capture that a fork below finalized drops is rejected as sealBroken, and told as a loss in the end, while the submitter goes on', async () => {
  const observed: string[] = []
  const shop = await openShop(chain, {
    policy: { pollingInterval: 40, blocks: { safe: 1, finalized: 2 } },
    observe: ({ name }) => {
      observed.push(name)
    },
  })
  const { orders } = shop
  const ends = new AbortController()
  const running = orders.run({ signal: ends.signal })
  onTestFinished(async () => {
    ends.abort()
    await running
    await orders.close()
  })
  const { id } = await storedOrder(chain, shop)
  const other = await storedOrder(chain, shop)
  expect((await orders.capture({ orderId: id })).status).toBe('captured')
  await control.mine({ blocks: 5 })
  await until(async () => (await rowsOf(shop, id)).attempts[0]?.signature).toBe(
    undefined,
  )
  await chain.reorg({ depth: 6, transactions: 'dropped' })
  await control.mine({ blocks: 1 })
  await until(async () => (await eventsOf(shop, id)).at(-1)).toBe(
    'captureRejected',
  )
  expect(await orders.get({ orderId: id })).toMatchObject({
    state: 'stored',
    reason: 'sealBroken',
  })
  expect(await orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'sealBroken',
  })
  // The nonce of the lost capture is free again: others wait behind it.
  const result = orders.capture({ orderId: other.id })
  await until(async () => {
    await control.mine({ blocks: 1 })
    return (await orders.get({ orderId: other.id })).state
  }).toBe('captured')
  expect((await result).status).toBe('captured')
  await chain.warp(900)
  await until(async () => (await eventsOf(shop, id)).at(-1)).toBe(
    'lossAfterFulfilment',
  )
  expect(observed).not.toContain('submitter.failed')
})
