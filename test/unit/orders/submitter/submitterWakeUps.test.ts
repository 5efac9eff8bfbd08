import { memoryStore, type PaymentStore } from 'countersign/store'
import { expect, test, vi } from 'vitest'
import { createSubmitterEngine } from '../../../../src/orders/submitter/submitterEngine.js'
import { contextOver } from '../../support/contextOver.js'
import { storedAttempt, storedOrder } from '../../support/storedOrder.js'

/** Longer than the test may take: only a wake-up ends such a pause. */
const pollingInterval = 600_000

test('an order that comes due while its submitter is read is looked at without a pause', async () => {
  const inner = memoryStore()
  let looks = 0
  const store: PaymentStore = {
    ...inner,
    read: (work) =>
      inner.read(async (tables) => {
        const result = await work({
          ...tables,
          orders: {
            ...tables.orders,
            find: async (query) => {
              if (!('sendDue' in query)) return tables.orders.find(query)
              looks++
              const found = await tables.orders.find(query)
              // Written after it was read, and before the submitter waits. The first
              // pause ends at once in any case.
              if (looks === 2) await addOrder(inner)
              return found
            },
          },
        })
        return result
      }),
  }
  const engine = createSubmitterEngine(contextOver(store, { pollingInterval }))
  const { chainId, submitter: account } = storedOrder
  const stop = new AbortController()
  const held = engine.hold({ chainId, account }, stop.signal, (work) => work())
  await vi.waitFor(() => expect(looks).toBeGreaterThan(2), 30_000)
  stop.abort()
  await held
  await engine.stop()
})

async function addOrder(store: PaymentStore): Promise<void> {
  const { version: _, position: __, ...row } = storedOrder
  await store.write(async ({ orders, attempts }) => {
    await orders.insert([{ ...row, requested: 'capture' }])
    await attempts.insert([storedAttempt])
  })
}
