import type { DurableObjectStoreParameters } from 'countersign/durable'
import { createOrders } from 'countersign/orders'
import type { PaymentStore } from 'countersign/store'
import { storeCases } from 'countersign/testing'
import { expectEqual } from './expectEqual.js'
import { newSealer } from './openOrders.js'
import { sell } from './orderCases.js'
import type { StagedCase } from './types.js'

/** What a Durable Object does with a store in its own database. */
export const durableCases = (
  openStore: (parameters?: DurableObjectStoreParameters) => PaymentStore,
): readonly StagedCase[] => [
  {
    name: 'the store in a Durable Object passes every published case',
    run: async () => {
      for (const { name, run } of storeCases)
        await Promise.resolve(run(() => openStore())).catch(
          (error: unknown) => {
            throw new Error(`${name}: ${error}`)
          },
        )
    },
  },
  {
    name: 'a recovery of a Durable Object that the merchant names is noticed, once',
    run: async () => {
      const open = async (restored?: string) => {
        const store = openStore({ restored })
        const { identity } = await store.open()
        await store.close()
        return identity
      }
      const before = await open()
      const after = await open('bookmark')
      expectEqual(await open(), before)
      expectEqual(await open('bookmark'), after)
      expectEqual(before === after, false)
    },
  },
  {
    name: 'an order in a Durable Object is drafted, accepted, captured and fulfilled',
    run: async (stage) => {
      const { reader, token, seller } = stage
      const orders = createOrders({
        store: openStore(),
        seal: newSealer(),
        tokens: [{ client: reader, token }],
        wallets: [seller],
        policy: { pollingInterval: 50, fulfilAt: 'included' },
      })
      const stop = new AbortController()
      const running = orders.run({ signal: stop.signal })
      try {
        const orderId = await sell(stage, orders)
        const { status } = await orders.capture({ orderId })
        expectEqual(status, 'captured')
        let types: string[] = []
        for (let looks = 0; looks < 500 && !types.includes('fulfil'); looks++) {
          await new Promise((resolve) => setTimeout(resolve, 20))
          const { events } = await orders.events({ orderId })
          types = events.map(({ type }) => type)
        }
        expectEqual(types, [
          'drafted',
          'accepted',
          'captureRequested',
          'capturing',
          'captured',
          'fulfil',
        ])
      } finally {
        stop.abort()
        await running
        await orders.close()
      }
    },
  },
]
