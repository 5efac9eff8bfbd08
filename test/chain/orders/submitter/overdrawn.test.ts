import { afterAll, expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import {
  acceptCeiling,
  type CeilingShop,
  type Drafted,
  openCeilingShop,
  parseCheckout,
  startCeilingChain,
  storedCeiling,
} from '../../support/ceilingShop.js'
import { newAccount } from '../../support/desk.js'
import { moveTokens } from '../../support/moveTokens.js'
import { balanceOf } from '../../support/refundDesk.js'
import { fileOf } from '../../support/watching.js'

const chain = await startCeilingChain()
afterAll(() => chain.stop())

const newTill = () => newAccount().address.toLowerCase() as `0x${string}`

/** A further stored ceiling of 50 tokens of the payer of another one. */
async function storeAnother(
  shop: CeilingShop,
  { payer }: Drafted,
  recipient = shop.seller,
): Promise<string> {
  const { order, payment } = await shop.orders.draft({
    atMost: '50.00',
    payer: payer.address,
    recipient,
  })
  const { id } = order
  const drafted = { id, payer, payment: parseCheckout(payment) }
  const verdict = await acceptCeiling(shop, drafted)
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  return id
}

const sentFor = async ({ orders }: CeilingShop, id: string) =>
  (await fileOf(contextOf(orders).context, id)).transactions

/** Captures orders of one payer at the same time, 20 tokens of each. */
async function captureBoth({ orders }: CeilingShop, ids: readonly string[]) {
  const results = await Promise.all(
    ids.map((orderId) => orders.capture({ orderId, amount: '20' })),
  )
  return results.map((one) =>
    one.status === 'rejected' ? one.reason : one.status,
  )
}

test('two ceilings count in full when they are accepted', async () => {
  const shop = await openCeilingShop(chain)
  const first = await storedCeiling(chain, shop)
  await moveTokens(chain, first.payer, 1n)
  await expect(storeAnother(shop, first)).rejects.toThrow('exposureTooHigh')
})

test('of two ceilings the second waits if the payer has less than it after the first, and no gas is spent on it', async () => {
  const shop = await openCeilingShop(chain)
  const first = await storedCeiling(chain, shop)
  const ids = [first.id, await storeAnother(shop, first)]
  await moveTokens(chain, first.payer, 40_000_000n)
  const results = await captureBoth(shop, ids)
  expect([...results].sort()).toEqual(['captured', 'insufficientFunds'])
  const refused = ids[results.indexOf('insufficientFunds')] ?? ''
  expect(await sentFor(shop, refused)).toEqual([])
  expect(await shop.orders.get({ orderId: refused })).toMatchObject({
    state: 'stored',
    needsReview: false,
  })
})

test('so it is if the two pay different recipients', async () => {
  const till = newTill()
  const shop = await openCeilingShop(chain, { recipients: [till] })
  const first = await storedCeiling(chain, shop)
  const ids = [first.id, await storeAnother(shop, first, till)]
  await moveTokens(chain, first.payer, 40_000_000n)
  const results = await captureBoth(shop, ids)
  expect([...results].sort()).toEqual(['captured', 'insufficientFunds'])
  const refused = ids[results.indexOf('insufficientFunds')] ?? ''
  expect(await sentFor(shop, refused)).toEqual([])
})

test('two ceilings are captured together if the payer has enough after the first', async () => {
  const shop = await openCeilingShop(chain)
  const first = await storedCeiling(chain, shop)
  const ids = [first.id, await storeAnother(shop, first)]
  await moveTokens(chain, first.payer, 30_000_000n)
  expect(await captureBoth(shop, ids)).toEqual(['captured', 'captured'])
  expect(await balanceOf(chain, first.payer.address)).toBe(30_000_000n)
})
