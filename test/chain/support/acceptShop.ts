import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { afterAll } from 'vitest'
import { fundedAccount } from './desk.js'
import { openShop, pay } from './shop.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

export const price = 12_500_000n
export const shop = await openShop(chain)
export const { orders } = shop

type Draft = Partial<Parameters<Orders['draft']>[0]>

/** A drafted order and what its buyer signed, not yet handed in. */
export async function sell({
  buyer,
  changes,
  ...draft
}: Draft & {
  buyer?: Awaited<ReturnType<typeof fundedAccount>> | undefined
  changes?: Parameters<typeof pay>[2]
} = {}) {
  const payer = buyer ?? (await fundedAccount(chain, price))
  const drafted = await orders.draft({ amount: '12.50', ...draft })
  const signed = await pay(payer, drafted.payment, changes)
  return { ...drafted, payer, signed, orderId: drafted.order.id }
}
