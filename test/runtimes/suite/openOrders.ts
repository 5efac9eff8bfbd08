import { createOrders, type Orders } from 'countersign/orders'
import { memoryStore, type Sealer, sealer } from 'countersign/store'
import type { Stage } from './types.js'

/** The seller's orders, in a memory of their own. */
export function openOrders({ reader, token, seller }: Stage): Orders {
  return createOrders({
    store: memoryStore({ volatile: true }),
    seal: newSealer(),
    tokens: [{ client: reader, token }],
    wallets: [seller],
    policy: { pollingInterval: 50 },
  })
}

/** Seals with a key nobody else has. */
export function newSealer(): Sealer {
  return sealer({
    keys: { 'key-1': crypto.getRandomValues(new Uint8Array(32)) },
    current: 'key-1',
  })
}
