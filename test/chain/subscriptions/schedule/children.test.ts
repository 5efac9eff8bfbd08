import { afterAll, expect, test } from 'vitest'
import {
  openSubscriptionShop,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

/** The row of a permission, and the rows and proofs of its charges. */
const familyOf = ({ store }: SubscriptionShop, id: string) =>
  store.read(async ({ orders, proofs }) => {
    const [parent] = await orders.find({ ids: [id] })
    const children = await orders.find({ chargesOf: id, limit: 9 })
    const orderIds = children.map((row) => row.id)
    return { parent, children, proofs: await proofs.find({ orderIds }) }
  })

test('two equal charges under one permission have two proofs, and neither removes the other', async () => {
  const shop = await openSubscriptionShop(chain)
  const { id } = await shop.subscribe({ allowance: '10' })
  for (const chargeId of ['one', 'two'])
    expect(
      await shop.subscriptions.charge({
        subscriptionId: id,
        chargeId,
        amount: '4',
      }),
    ).toMatchObject({ ok: true, order: { primaryType: undefined } })
  await shop.workUntil(async () =>
    (await familyOf(shop, id)).children.every(
      ({ finality }) => finality === 'finalized',
    ),
  )
  const { parent, children, proofs } = await familyOf(shop, id)
  expect(parent).toMatchObject({ role: 'permission', primaryType: undefined })
  expect(parent?.parentId).toBeUndefined()
  expect(children).toMatchObject(
    [`${id}/two`, `${id}/one`].map((child) => ({
      id: child,
      role: 'charge',
      parentId: id,
      state: 'captured',
      primaryType: undefined,
    })),
  )
  expect(proofs.map(({ orderId }) => orderId).sort()).toEqual([
    `${id}/one`,
    `${id}/two`,
  ])
  expect(proofs.some(({ removed }) => removed)).toBe(false)
  expect(new Set(proofs.map((proof) => proof.transactionHash)).size).toBe(2)
})
