import { type DevChain, startDevChain } from 'countersign/devchain'
import { sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { drawDestination, sampleEvent } from '../../../storeCases/samples.js'
import { eventually } from '../../../unit/support/webhooksRun.js'
import { sqliteFile } from '../../support/chaos.js'
import { openShop, rowsOf, type Shop, storedOrder } from '../../support/shop.js'
import { watchStatements } from '../../support/watchStatements.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
})
afterAll(() => chain.stop())

/** Longer than a test. */
const never = 600_000

function run(shop: Shop): void {
  const ending = new AbortController()
  const running = shop.orders.run({ signal: ending.signal })
  onTestFinished(async () => {
    ending.abort()
    await running
    await shop.orders.close()
  })
}

/** Requests a capture as another process does, and tells it by an event. */
async function requestElsewhere(store: PaymentStore, id: string) {
  await store.write(async ({ orders, events }) => {
    const [order] = await orders.find({ ids: [id] })
    if (!order) throw new Error(`no order ${id}`)
    await orders.update([{ ...order, requested: 'capture', sendDue: 0n }])
    await events.append([sampleEvent(drawDestination())])
  })
}

const isCaptured = (shop: Shop, id: string) =>
  eventually(async () => (await rowsOf(shop, id)).order.state).toBe('captured')

test('while the store is silent, a submitter asks it nothing and keeps its lease', async () => {
  const ran: string[] = []
  onTestFinished(watchStatements((text) => ran.push(text)))
  const { store } = sqliteFile()
  const shop = await openShop(chain, {
    store,
    policy: { pollingInterval: 20, quietInterval: never, lease: 1500 },
  })
  run(shop)
  const count = (words: string) =>
    ran.filter((text) => text.includes(words)).length
  const isSilent = async () => {
    const before = count('send_due')
    await new Promise((resolve) => setTimeout(resolve, 400))
    return count('send_due') === before
  }
  await eventually(async () => count('send_due')).toBeGreaterThan(1)
  await eventually(isSilent).toBe(true)
  // Each call of `health` asks for them, too.
  let byHealth = 0
  const end = async () => {
    const before = count('send_due')
    const { submitters } = await shop.orders.health()
    byHealth += count('send_due') - before
    return submitters[0]?.lease?.until ?? 0n
  }
  const first = await end()
  const asked = count('send_due') - byHealth
  await eventually(end).toBeGreaterThan(first)
  expect(count('send_due') - byHealth).toBe(asked)
})

test('an order that another process requests ends the pause of a submitter', async () => {
  const { file, store } = sqliteFile()
  const shop = await openShop(chain, {
    store,
    policy: { pollingInterval: 20, quietInterval: never },
  })
  const { id } = await storedOrder(chain, shop)
  run(shop)
  await eventually(
    async () => (await shop.orders.health()).submitters[0]?.lease,
  ).toBeDefined()
  const other = sqliteStore({ file })
  await requestElsewhere(other, id)
  await isCaptured(shop, id)
  await other.close()
})

test('a submitter looks once a second at a store that reports no changes', async () => {
  const { onChange: _, ...store } = memoryStore()
  const shop = await openShop(chain, {
    store,
    policy: { pollingInterval: never },
  })
  run(shop)
  // Between the first and the second, it finds nothing to do.
  for (let at = 0; at < 2; at++) {
    const { id } = await storedOrder(chain, shop)
    await requestElsewhere(store, id)
    await isCaptured(shop, id)
  }
})
