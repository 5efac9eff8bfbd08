import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import type { Observation } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import { openShop, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
const folder = mkdtempSync(join(tmpdir(), 'countersign-close-'))
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

let files = 0
const newShop = (changes: Parameters<typeof openShop>[1] = {}) =>
  openShop(chain, {
    store: sqliteStore({ file: join(folder, `${files++}.db`) }),
    ...changes,
  })

test('a worker ends with the orders it works for, and leaves nothing failing', async () => {
  const seen: Observation[] = []
  const shop = await newShop({
    policy: { capture: 'onAccept', pollingInterval: 20 },
    observe: (observation) => seen.push(observation),
  })
  const { signal } = new AbortController()
  const running = shop.orders.run({ signal })
  const { id } = await storedOrder(chain, shop)
  await expect
    .poll(async () => (await shop.orders.get({ orderId: id })).state)
    .toBe('captured')
  await shop.orders.close()
  await running
  const failed = seen.filter(({ name }) => name.endsWith('.failed'))
  expect(failed).toEqual([])
})

test('who waits for a capture is told what is known when the orders are closed', async () => {
  const shop = await newShop({ policy: { pollingInterval: 20 } })
  const { id } = await storedOrder(chain, shop)
  await chain.clients.test.setAutomine(false)
  const asked = shop.orders.capture({ orderId: id })
  await expect
    .poll(async () => (await shop.orders.get({ orderId: id })).state)
    .toBe('capturing')
  await shop.orders.close()
  expect(await asked).toMatchObject({ status: 'unknown', resolvedBy: 'chain' })
  await chain.clients.test.setAutomine(true)
})

test('a capture that is asked for while the orders are closed waits for nothing', async () => {
  const kept = memoryStore()
  let isSlow = false
  let goOn = () => {}
  const slow = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const write: PaymentStore['write'] = async (work, options) => {
    if (isSlow) await slow
    return kept.write(work, options)
  }
  const shop = await newShop({ store: { ...kept, write } })
  const { id } = await storedOrder(chain, shop)
  isSlow = true
  const asked = shop.orders.capture({ orderId: id })
  await shop.orders.get({ orderId: id })
  const closed = shop.orders.close()
  goOn()
  expect(await asked).toMatchObject({ status: 'unknown', resolvedBy: 'worker' })
  await closed
})

test('orders are closed as often as one likes, and do nothing afterwards', async () => {
  const { orders } = await newShop()
  await orders.close()
  await orders.close()
  await expect(orders.list()).rejects.toMatchObject({ name: 'StoreError' })
})
