import { signCancellation } from 'countersign'
import type { OrderState } from 'countersign/store'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getTransactionCount } from 'viem/actions'
import { expect } from 'vitest'
import { cancelPageOf } from './settle.js'
import { openShop, type Shop } from './shop.js'
import { chain, client } from './specChain.js'

export const policy = {
  pollingInterval: 20,
  relayCancellations: 'always',
} as const

/** A shop of its own seller, on the chain of this file. */
export const newShop = (changes: Parameters<typeof openShop>[1] = {}) =>
  openShop(chain, { ...changes, policy: { ...policy, ...changes.policy } })

/** Lets the worker do all that is due until something holds. */
export async function workFor<value>(
  { orders }: Shop,
  read: () => Promise<value>,
  wanted: value,
) {
  const ends = new AbortController()
  const running = orders.run({ signal: ends.signal })
  await expect.poll(read, { timeout: 60_000 }).toEqual(wanted)
  ends.abort()
  await running
}

export const workUntil = (shop: Shop, orderId: string, state: OrderState) =>
  workFor(shop, async () => (await shop.orders.get({ orderId })).state, state)

export const transactionsOf = ({ seller }: Shop) =>
  getTransactionCount(client, { address: seller, blockTag: 'pending' })

export async function revokeOrder(
  { orders }: Shop,
  orderId: string,
  account: PrivateKeyAccount,
) {
  const request = await orders.cancellationToSign({ orderId })
  if (!request.ok) throw new Error(`nothing to cancel: ${request.reason}`)
  const { cancellation } = request
  const wallet = { account, request: async () => '0x7a69' }
  return signCancellation(wallet, {
    cancellation,
    expect: cancelPageOf(cancellation),
  })
}
