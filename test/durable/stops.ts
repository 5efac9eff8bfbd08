import type { DurableStorage } from 'countersign/durable'
import type { PaymentStore } from 'countersign/store'
import type { Answer, Stop } from './types.js'

/** The points at which the runtime can stop for good. */
export type Stops = {
  readonly passed: Answer['passed']
  passStorage(storage: DurableStorage): DurableStorage
  passStore(store: PaymentStore): PaymentStore
  passNode(send: typeof fetch): typeof fetch
}

export function createStops(
  stop: Stop | undefined,
  sync: () => Promise<void>,
): Stops {
  const passed = { before: 0, after: 0, durable: 0, send: 0, sent: 0 }
  const pass = (point: Stop['point']) => {
    passed[point]++
    if (stop?.point !== point || stop.count !== passed[point]) return
    // biome-ignore lint/suspicious/noConsole: nothing else gets past the output gate
    console.log(`stopped ${point} ${stop.count}`)
    // Nothing goes on, not even the commit to the disk, until it is killed.
    for (;;);
  }
  return {
    passed,
    passStorage: (storage) => ({
      sql: storage.sql,
      transactionSync: (closure) => {
        const result = storage.transactionSync(() => {
          const inside = closure()
          // A rehearsal throws, and does not come here.
          pass('before')
          return inside
        })
        pass('after')
        return result
      },
    }),
    passStore: (store) => ({
      ...store,
      write: async (work, options) => {
        const result = await store.write(work, options)
        if (stop?.point === 'durable') await sync()
        pass('durable')
        return result
      },
    }),
    passNode: (send) => async (input, init) => {
      const isSend = String(init?.body).includes('eth_sendRawTransaction')
      if (isSend) pass('send')
      const response = await send(input, init)
      // All of it has arrived, and nobody has looked at it.
      const text = await response.text()
      if (isSend) pass('sent')
      return new Response(text, response)
    },
  }
}
