import { memoryStore, type PaymentStore, sealer } from 'countersign/store'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  chain,
  openGateShop,
  price,
  settlementOf,
  signFor,
} from '../../support/x402Desk.js'

const address = 'https://shop.example/work'
const key = crypto.getRandomValues(new Uint8Array(32))
const words = 'the treasure is under the oak'

/** A shop that sold one answer, and the header that paid for it. */
async function openSold() {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const seal = sealer({ keys: { first: key }, current: 'first' })
  const shop = await openGateShop({}, { store, seal, sellers })
  const sold = shop.gate.protect('work', () => new Response(words))
  const payer = await fundedAccount(chain, price)
  const header = await signFor(payer, await sold(new Request(address)))
  const request = () =>
    new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } })
  const first = await sold(request())
  expect(await first.text()).toBe(words)
  return { shop, store, sellers, sold, request, first }
}

/** Every kept answer of a store. */
const notesOf = (store: PaymentStore) =>
  store.read(({ notes }) => notes.find({ over: 2n ** 62n, limit: 100 }))

test('a kept answer is sealed: the database does not show it', async () => {
  const { shop, store } = await openSold()
  const text = JSON.stringify(await notesOf(store), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(text).not.toContain(words)
  expect(text).not.toContain(btoa(words))
  expect(text).toContain('"answer":"first 1 ')
  await shop.orders.close()
})

test('a kept answer opens for its own payment only', async () => {
  const { shop, store, sold, request, first } = await openSold()
  const again = await sold(request())
  expect(await again.text()).toBe(words)
  const payer = await fundedAccount(chain, price)
  const other = await signFor(payer, await sold(new Request(address)))
  const asking = () =>
    new Request(address, { headers: { 'PAYMENT-SIGNATURE': other } })
  await sold(asking())
  const [one, two] = (await notesOf(store)).filter(({ data }) => data.answer)
  if (!one || !two) throw new Error('there are two answers')
  // Somebody who can write to the database exchanges the two.
  await store.write(({ notes }) =>
    notes.update([
      { ...one, data: { ...one.data, answer: two.data.answer ?? '' } },
      { ...two, data: { ...two.data, answer: one.data.answer ?? '' } },
    ]),
  )
  const spoiled = await sold(request())
  expect(spoiled.status).toBe(409)
  expect(await spoiled.text()).not.toContain(words)
  expect(settlementOf(spoiled)).toEqual(settlementOf(first))
  await shop.orders.close()
})

test('without its key, a kept answer is answered with 409 and the receipt, and nothing is done again', async () => {
  const { shop, store, sellers, request, first } = await openSold()
  const seal = sealer({
    keys: { second: Uint8Array.from(key).reverse() },
    current: 'second',
    lost: ['first'],
  })
  const later = await openGateShop({}, { store, seal, sellers })
  const sold = later.gate.protect('work', () => {
    throw new Error('ran again')
  })
  const answer = await sold(request())
  expect(answer.status).toBe(409)
  expect(settlementOf(answer)).toEqual(settlementOf(first))
  await shop.orders.close()
})
