import { memoryStore, type PaymentStore } from 'countersign/store'
import { createX402Gate } from 'countersign/x402'
import { expect, test } from 'vitest'
import { drawAddress } from '../../../storeCases/samples.js'
import { sqliteFile } from '../../support/chaos.js'
import { fundedAccount } from '../../support/desk.js'
import { holdNode } from '../../support/heldNode.js'
import { openStore } from '../../support/postgresStore.js'
import { openShop } from '../../support/shop.js'
import {
  balanceOf,
  chain,
  type GateShop,
  price,
  requiredBy,
} from '../../support/x402Desk.js'
import { payFor, resource } from '../../support/x402Paid.js'

const policy = { pollingInterval: 50 }

/** A shop with a gate whose two offers pay two recipients of its own. */
async function openRecipients(store: PaymentStore = memoryStore()) {
  const sellers = [await fundedAccount(chain)]
  const [kept, left] = [drawAddress(), drawAddress()]
  const node = holdNode(chain)
  const given = { store, sellers, policy, recipients: [kept, left] }
  const shop = await openShop(chain, {
    ...given,
    shop: 'one',
    client: node.client,
  })
  const { orders } = shop
  const gate = createX402Gate({
    orders,
    offers: {
      kept: { amount: '0.01', recipient: kept },
      left: { amount: '0.01', recipient: left },
    },
  })
  const other = await openShop(chain, { store, sellers, policy, shop: 'two' })
  const served: GateShop = { ...shop, gate, recipient: kept }
  return { shop: served, other: other.orders, kept, left, node }
}

const ask = ({ gate }: GateShop, offer: string | string[], header?: string) =>
  gate.answer(
    new Request(resource, {
      headers: header ? { 'PAYMENT-SIGNATURE': header } : {},
    }),
    { offer, handler: () => new Response('goods') },
  )

test('an offer leaves the gate with its recipient, and comes back with it', async () => {
  const { shop, kept, left } = await openRecipients()
  const goods = () => new Response('goods')
  const done = await payFor(shop, 'left', goods)
  expect((await done.send()).status).toBe(200)
  const late = await payFor(shop, 'left', goods)
  await shop.orders.changeRecipients({ remove: [left] })
  const both = requiredBy(await ask(shop, ['left', 'kept'])).accepts
  expect(both).toMatchObject([
    { payTo: expect.stringMatching(RegExp(kept, 'i')) },
  ])
  expect((await ask(shop, 'left')).status).toBe(503)
  expect((await ask(shop, 'left', late.header)).status).toBe(503)
  const refused = await ask(shop, ['left', 'kept'], late.header)
  expect(requiredBy(refused)).toMatchObject({
    error: 'invalid_payment_requirements',
    accepts: both,
  })
  // What was paid before is still answered.
  expect(await (await done.send()).text()).toBe('goods')
  await shop.orders.changeRecipients({ add: [left] })
  expect((await late.send()).status).toBe(200)
})

test.each<[string, () => PaymentStore]>([
  ['memory', memoryStore],
  ['SQLite', () => sqliteFile().store],
  ['PostgreSQL', () => openStore()],
])(
  'in %s, a payment whose recipient moves to another shop while it is verified is refused',
  async (_, open) => {
    const { shop, other, left, node } = await openRecipients(open())
    const paid = await payFor(shop, 'left', () => new Response('goods'))
    const { arrived } = node.hold('answer')
    const sent = ask(shop, ['left', 'kept'], paid.header)
    await arrived
    await shop.orders.changeRecipients({ remove: [left] })
    await other.changeRecipients({ add: [left] })
    node.release()
    const refused = await sent
    expect(requiredBy(refused).error).toBe('invalid_payment_requirements')
    expect((await other.list()).orders).toEqual([])
    expect(await balanceOf(paid.account.address)).toBe(price)
  },
)

test('in PostgreSQL, a recipient with a draft that is being written is not removed before it, and stays', async () => {
  const inner = openStore()
  let insert = () => {}
  let release = () => {}
  const inserting = new Promise<void>((resolve) => {
    insert = resolve
  })
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let holds = false
  const store: PaymentStore = {
    ...inner,
    write: (work, options) =>
      inner.write(
        (tables) =>
          work({
            ...tables,
            orders: {
              ...tables.orders,
              insert: async (rows) => {
                if (holds) {
                  holds = false
                  insert()
                  await released
                }
                return tables.orders.insert(rows)
              },
            },
          }),
        options,
      ),
  }
  const { shop, other, left } = await openRecipients(store)
  await shop.orders.list()
  await other.list()
  holds = true
  const drafted = shop.orders.draft({
    amount: '1',
    recipient: left,
    primaryType: 'TransferWithAuthorization',
  })
  await inserting
  const moved = shop.orders
    .changeRecipients({ remove: [left] })
    .then(() => other.changeRecipients({ add: [left] }))
  // Time enough for both changes, if nothing made them wait.
  await Promise.race([
    moved.catch(() => undefined),
    new Promise((resolve) => setTimeout(resolve, 1_000)),
  ])
  release()
  const { order } = await drafted
  await expect(moved).rejects.toThrow('it belongs to shop "one"')
  expect(await shop.orders.get({ orderId: order.id })).toMatchObject({
    recipient: left,
  })
})
