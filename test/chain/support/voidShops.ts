import { startDevChain } from 'countersign/devchain'
import type { OrdersPolicy } from 'countersign/orders'
import { afterAll, expect } from 'vitest'
import { revoke } from './desk.js'
import { openShop, type Shop, storedOrder } from './shop.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

export const shop = await openShop(chain)
export const relaying = await openShop(chain, {
  policy: { relayCancellations: 'always' } satisfies OrdersPolicy,
})
export const { orders } = shop

/** A stored order and what cancels it. */
export async function paid(shop: Shop) {
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const asked = await shop.orders.cancellationToSign({ orderId: id })
  if (!asked.ok) throw new Error(asked.reason)
  const cancellation = await revoke(chain, signed, buyer)
  const { signature, ...unsigned } = cancellation
  expect(asked.cancellation).toEqual(unsigned)
  return { id, buyer, signed, cancellation }
}
