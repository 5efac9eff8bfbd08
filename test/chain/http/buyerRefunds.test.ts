import type { DevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readFrames } from '../../unit/support/readFrames.js'
import { fundedAccount } from '../support/desk.js'
import { misfitsOf } from '../support/eventContract.js'
import {
  openRefundShop,
  price,
  requestRefund,
  startRefundChain,
} from '../support/refundDesk.js'
import { pay } from '../support/shop.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

type SeenRefund = {
  state: string
  amount: string
  transaction: null | { hash: string; blockNumber: string; finality: string }
}
type Seen = { type: string; order: { refunds: SeenRefund[] } }

test('a buyer is told of its refund, in the order and in its stream', async () => {
  const shop = await openRefundShop(chain)
  const { orders } = shop
  const handler = createPaymentHandler(orders, { authorize: () => undefined })
  const buyer = await fundedAccount(chain, price)
  const { order, payment, buyerToken } = await orders.draft({ amount: '12.50' })
  const orderId = order.id
  const ask = (path = '') =>
    handler(
      new Request(`https://shop.example/orders/${orderId}${path}`, {
        headers: { authorization: `Bearer ${buyerToken}` },
      }),
    )
  const readRefunds = async () => {
    const { refunds } = (await (await ask()).json()) as Seen['order']
    return refunds
  }
  await orders.accept({ orderId, payment: await pay(buyer, payment) })
  await orders.capture({ orderId })
  expect(await readRefunds()).toEqual([])

  const stream = readFrames(await ask('/events'))
  await stream.next()
  await requestRefund(orders, orderId, 'return-7', '2.50')
  expect(await readRefunds()).toEqual([
    { state: 'requested', amount: '2.5', transaction: null },
  ])
  const get = () => orders.getRefund({ orderId, refundId: 'return-7' })
  await shop.workUntil(async () => (await get()).state === 'succeeded')

  const { transfer } = await get()
  const transaction = {
    hash: transfer?.transactionHash,
    blockNumber: String(transfer?.blockNumber),
    finality: expect.any(String),
  }
  const paidBack = { state: 'succeeded', amount: '2.5', transaction }
  expect(await readRefunds()).toEqual([paidBack])
  const news = (await stream.rest()).map(({ data }) => data as Seen)
  expect(news.flatMap((one) => misfitsOf('BuyerEvent', one) ?? [])).toEqual([])
  expect(news.slice(-2)).toMatchObject([
    { type: 'refunded', order: { refunds: [paidBack] } },
    { type: 'end', order: { refunds: [paidBack] } },
  ])
  expect(JSON.stringify(news)).not.toContain('return-7')
  await orders.close()
})
