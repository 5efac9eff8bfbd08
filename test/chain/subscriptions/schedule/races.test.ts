import type { PaymentStore } from 'countersign/store'
import type { Hex } from 'viem'
import { dropTransaction, mine, sendRawTransaction } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { balanceOf } from '../../support/refundDesk.js'
import {
  chargesOf,
  countUses,
  openSubscriptionShop,
  pass,
  period,
  restoreBackup,
  type SubscriptionShop,
  startSubscriptionChain,
  stateOf,
} from '../../support/subscriptionShop.js'

// Blocks are mined on request, so that transactions can wait for theirs.
const chain = await startSubscriptionChain(3600)
afterAll(() => chain.stop())

const price = 10_000_000n

const hasCharges =
  (shop: SubscriptionShop, id: string, state: string, count = 1) =>
  async () =>
    (await chargesOf(shop, id)).filter((one) => one[1] === state).length >=
    count

/** Charges of a subscription in flight, once the bytes of some were sent. */
async function sendUnmined(
  shop: SubscriptionShop,
  id: string,
  count = 1,
): Promise<{ orderId: string | undefined; hash: Hex; raw: Hex }[]> {
  const sent: { orderId: string | undefined; hash: Hex; raw: Hex }[] = []
  const isSent = async () => {
    sent.length = 0
    const { charges } = await shop.subscriptions.charges({ subscriptionId: id })
    const orderIds = charges.map((charge) => charge.id)
    const rows = await shop.store.read(({ transactions }) =>
      transactions.find({ orderIds }),
    )
    for (const { movements, hash, raw, inFlight } of rows)
      if (inFlight && hash && raw)
        sent.push({
          orderId: movements[0]?.orderId,
          hash,
          raw: `0x${raw.split('0x').at(-1)}`,
        })
    return sent.length >= count
  }
  await shop.workUntil(isSent, { mines: false })
  return sent
}

test('a charge that is mined one period late is proven once, and the next period is not charged twice', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await pass(chain, period)
  await sendUnmined(shop, id)
  await pass(chain, period)
  await shop.workUntil(hasCharges(shop, id, 'captured', 2))
  await shop.workUntil(hasCharges(shop, id, 'stored'))
  expect(await chargesOf(shop, id)).toEqual([
    ['period-1', 'captured', price],
    ['period-2', 'captured', price],
    ['period-3', 'stored', price],
  ])
  await pass(chain, period)
  await shop.workUntil(hasCharges(shop, id, 'captured', 3))
  await shop.workUntil(async () => (await stateOf(shop, id)) === 'active')
  expect(await balanceOf(chain, wallet.address)).toBe(7n * price)
})

test('a charge in flight at the end of its period is replaced by a filler before the next one is signed', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id, wallet } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  await pass(chain, period)
  for (const { hash } of await sendUnmined(shop, id))
    await dropTransaction(chain.clients.test, { hash })
  await pass(chain, period)
  await shop.workUntil(hasCharges(shop, id, 'captured', 2))
  const states = (await chargesOf(shop, id)).map(([charge, state]) => [
    charge,
    state === 'captured',
  ])
  expect(states).toEqual([
    ['period-1', true],
    ['period-2', false],
    ['period-3', true],
  ])
  expect(await balanceOf(chain, wallet.address)).toBe(8n * price)
})

test('after a restored backup, a transaction that the lost database signed can no longer be mined', async () => {
  const before = await openSubscriptionShop(chain)
  const { id, wallet } = await before.subscribe({ allowance: '20' })
  const { account } = before
  const charge = (shop: SubscriptionShop, chargeId: string) =>
    shop.subscriptions.charge({ subscriptionId: id, chargeId, amount: '4' })
  await charge(before, 'april')
  await before.workUntil(hasCharges(before, id, 'captured'))
  const store = await restoreBackup(before)
  await store.write((tables) =>
    tables.setValue('store', { identity: 'the lost database' }),
  )
  await charge(before, 'may')
  await charge(before, 'june')
  const lost = await sendUnmined(before, id, 2)
  for (const { hash } of lost)
    await dropTransaction(chain.clients.test, { hash })
  const shop = await openSubscriptionShop(chain, { store, account })
  await shop.orders.reconcile()
  expect(await shop.subscriptions.reconcile()).toEqual({
    settled: 0,
    adopted: 1,
  })
  await shop.orders.resume()
  await charge(shop, 'may')
  await shop.workUntil(hasCharges(shop, id, 'captured', 2))
  // Nobody asks for June again: only its nonce keeps it from being mined.
  for (const { raw: serializedTransaction } of lost)
    await expect(
      sendRawTransaction(chain.clients.public, { serializedTransaction }),
    ).rejects.toThrow(/nonce/i)
  await mine(chain.clients.test, { blocks: 1 })
  expect(await balanceOf(chain, wallet.address)).toBe(92_000_000n)
})

/** A store that dies at a write, before it is kept or after. */
function dyingStore(
  store: PaymentStore,
  { at, isKept }: { at: number; isKept: boolean },
): { store: PaymentStore; isDead: () => boolean } {
  let writes = 0
  let isDead = false
  const check = () => {
    if (isDead) throw new Error('killed')
  }
  return {
    isDead: () => isDead,
    store: {
      ...store,
      read: async (work) => {
        check()
        return store.read(work)
      },
      write: async (work, options) => {
        check()
        writes++
        if (writes !== at) return store.write(work, options)
        if (isKept) await store.write(work, options)
        isDead = true
        throw new Error('killed')
      },
    },
  }
}

// Each takes seconds: a worker whose store is dead ends only by its time limit.
const places = process.env.COUNTERSIGN_FULL
  ? Array.from({ length: 16 }, (_, index) => index + 1)
  : [2, 4, 5]
const kills = places.flatMap((at) =>
  process.env.COUNTERSIGN_FULL
    ? [true, false].map((isKept) => ({ at, isKept }))
    : [{ at, isKept: at % 2 === 0 }],
)

test('a worker that is killed at any write leaves exactly one charge to its successor', async () => {
  const first = await openSubscriptionShop(chain)
  const { account, store } = first
  const { id, wallet } = await first.subscribe({
    funds: 40n * price,
    periods: 40,
    // The chain itself would allow ten charges in a period.
    amount: '10',
    allowance: '100',
  })
  await first.workUntil(hasCharges(first, id, 'captured'))
  for (const [index, kill] of kills.entries()) {
    await pass(chain, period)
    const dying = dyingStore(store, kill)
    const killed = await openSubscriptionShop(chain, {
      store: dying.store,
      account,
    })
    await killed.workUntil(async () => dying.isDead())
    await first.workUntil(hasCharges(first, id, 'captured', index + 2))
  }
  const charges = await chargesOf(first, id)
  expect(charges.map(([, state]) => state)).toEqual(
    Array(kills.length + 1).fill('captured'),
  )
  expect(await balanceOf(chain, wallet.address)).toBe(
    BigInt(40 - charges.length) * price,
  )
  expect(await countUses(chain, first, id)).toBe(charges.length)
  expect((await first.orders.audit()).ok).toBe(true)
})
