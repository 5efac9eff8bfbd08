import { encodePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from './desk.js'
import { startEndpoint } from './endpoint.js'
import { openShop, pay } from './shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const price = 12_500_000n

test('an accepted payment is stored after one HTTP request', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const shop = await openShop(chain, { url })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  expect(asked).toHaveLength(1)
  const signed = await pay(buyer, payment)
  const verdict = await shop.orders.accept({
    orderId: order.id,
    payment: encodePayment(signed),
  })
  expect(asked).toHaveLength(2)
  const stored = {
    ...order,
    state: 'stored',
    payer: signed.message.from,
    spendableUntil: order.validBefore,
  }
  expect(verdict).toEqual({
    ok: true,
    order: stored,
    at: {
      block: expect.any(BigInt),
      time: expect.any(BigInt),
      via: 'override',
      gasUsed: expect.any(BigInt),
    },
  })
  expect(await shop.orders.get({ orderId: order.id })).toEqual(stored)
})
