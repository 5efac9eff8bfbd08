import { startDevChain } from 'countersign/devchain'
import { memoryStore } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import { fakeNode, fundedAccount } from '../../support/desk.js'
import {
  eventsOf,
  openShop,
  pay,
  rowsOf,
  setOrder,
} from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const price = 12_500_000n

test('a payer that another shop holds is not held here', async () => {
  const store = memoryStore()
  const buyer = await fundedAccount(chain, 3n * price)
  const shops = [
    await openShop(chain, { store }),
    await openShop(chain, { store }),
  ]
  const held: boolean[] = []
  for (const one of shops) {
    const { order, payment } = await one.orders.draft({ amount: '12.50' })
    const signed = await pay(buyer, payment)
    const verdict = await one.orders.accept({
      orderId: order.id,
      payment: signed,
    })
    if (!verdict.ok) throw new Error(verdict.reason)
    held.push(verdict.order.needsReview)
    await setOrder(one, order.id, { needsReview: true })
  }
  expect(held).toEqual([false, false])
})

const chainWord = (31337).toString(16).padStart(16, '0')
const otherWord = (1).toString(16).padStart(16, '0')

test('a node of another chain refuses no payment, and no try is counted', async () => {
  let lies = false
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    const answer = await forward()
    return lies && method === 'eth_call'
      ? String(answer).replace(chainWord, otherWord)
      : answer
  })
  const shop = await openShop(chain, { client })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const signed = { orderId: order.id, payment: await pay(buyer, payment) }
  lies = true
  await expect(shop.orders.accept(signed)).rejects.toMatchObject({
    name: 'NodeAnswerError',
    retryable: true,
  })
  expect((await rowsOf(shop, order.id)).order.tries).toBe(0)
  lies = false
  expect(await shop.orders.accept(signed)).toMatchObject({ ok: true })
  expect(await eventsOf(shop, order.id)).toEqual(['drafted', 'accepted'])
})
