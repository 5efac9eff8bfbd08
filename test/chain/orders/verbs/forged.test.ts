import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount, revoke } from '../../support/desk.js'
import { openShop, pay, rowsOf, storedOrder } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test('ten forged cancellations of an order are refused, and the next ones unread', async () => {
  const shop = await openShop(chain)
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const genuine = await revoke(chain, signed, buyer)
  const signature = `0x${'11'.repeat(32)}${'22'.repeat(32)}1b` as const
  const forged = { ...genuine, signature }
  const cancel = (cancellation: typeof genuine) =>
    shop.orders.acceptCancellation({ orderId: id, cancellation })
  const verdicts = await Promise.all(
    Array.from({ length: 14 }, () => cancel(forged)),
  )
  const reasons = verdicts.map((one) => (one.ok ? undefined : one.reason))
  expect(reasons.filter((reason) => reason === 'tooManyTries').length).toBe(4)
  expect((await rowsOf(shop, id)).order.tries).toBe(10)
  expect(await cancel(genuine)).toMatchObject({ reason: 'tooManyTries' })
})

test('a genuine cancellation counts as no try, and neither does a node that fails', async () => {
  const shop = await openShop(chain)
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const cancellation = await revoke(chain, signed, buyer)
  const silent = await openShop(chain, {
    store: shop.store,
    url: 'http://127.0.0.1:1',
    sellers: [buyer],
    recipients: [shop.seller],
  })
  await expect(
    silent.orders.acceptCancellation({ orderId: id, cancellation }),
  ).rejects.toThrow()
  expect((await rowsOf(shop, id)).order.tries).toBe(0)
  expect(
    await shop.orders.acceptCancellation({ orderId: id, cancellation }),
  ).toMatchObject({ ok: true })
  expect((await rowsOf(shop, id)).order.tries).toBe(0)
})

test('three cancellations of a payer are relayed in a day, and more only when approved', async () => {
  const shop = await openShop(chain, {
    policy: { relayCancellations: 'always' },
  })
  const payer = await fundedAccount(chain, 100_000_000n)
  const cancelOne = async (buyer: typeof payer) => {
    const { order, payment } = await shop.orders.draft({ amount: '1' })
    const signed = await pay(buyer, payment)
    const orderId = order.id
    await shop.orders.accept({ orderId, payment: signed })
    const cancellation = await revoke(chain, signed, buyer)
    const verdict = await shop.orders.acceptCancellation({
      orderId,
      cancellation,
    })
    return { orderId, verdict }
  }
  const all = await Promise.all([1, 2, 3, 4, 5].map(() => cancelOne(payer)))
  const isKept = ({ verdict }: (typeof all)[number]) => 'call' in verdict
  expect(all.map(({ verdict }) => verdict.ok)).not.toContain(false)
  expect(all.filter(isKept)).toHaveLength(2)
  const kept = all.find(isKept)
  expect(kept?.verdict).toMatchObject({ order: { state: 'voided' } })
  const { orderId = '' } = kept ?? {}
  expect(await shop.orders.approveCancellation({ orderId })).toMatchObject({
    ok: true,
    order: { requested: 'cancel' },
  })
  const other = await fundedAccount(chain, 100_000_000n)
  expect(isKept(await cancelOne(other))).toBe(false)
})
