import { afterAll, expect, test } from 'vitest'
import {
  openCeilingShop,
  startCeilingChain,
  storedCeiling,
} from '../../support/ceilingShop.js'
import { balanceOf } from '../../support/refundDesk.js'

const chain = await startCeilingChain()
afterAll(() => chain.stop())

async function collect<piece>(pieces: AsyncIterable<piece>): Promise<piece[]> {
  const all: piece[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

test('the books have what was captured, and a refund is at most that', async () => {
  const shop = await openCeilingShop(chain)
  const { id } = await storedCeiling(chain, shop)
  await shop.orders.capture({ orderId: id, amount: '42.10' })
  const rows = await collect(shop.orders.ledger({ transfers: true }))
  const captured = { type: 'capture', orderId: id, gross: 42_100_000n }
  expect(rows).toContainEqual(expect.objectContaining(captured))
  expect(rows.map(({ type }) => type)).not.toContain('transfer')
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    refundable: 42_100_000n,
  })
  expect(
    await shop.orders.refund({ orderId: id, refundId: 'a', amount: '42.11' }),
  ).toMatchObject({ ok: false, reason: 'exceedsCaptured' })
})

test('an order with a ceiling is drafted, signed, captured for less, and proven with the amount', async () => {
  const shop = await openCeilingShop(chain)
  const { id, payer } = await storedCeiling(chain, shop)
  const stored = await shop.orders.get({ orderId: id })
  expect(stored).toMatchObject({
    state: 'stored',
    kind: 'checkout',
    atMost: '50.00',
    amount: '50.00',
  })

  const result = await shop.orders.capture({ orderId: id, amount: '42.10' })
  expect(result).toMatchObject({
    status: 'captured',
    order: { amount: '42.10', value: 42_100_000n, atMost: '50.00' },
  })
  expect(await balanceOf(chain, shop.seller)).toBe(42_100_000n)
  expect(await balanceOf(chain, payer.address)).toBe(57_900_000n)
  expect(await shop.orders.audit()).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: 1, value: 42_100_000n } }],
  })
  await shop.orders.close()
})
