import { deployDevContract } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import { encodeFunctionData } from 'viem'
import { expect, test } from 'vitest'
import { contextOf } from '../../../../src/orders/contextOf.js'
import {
  acceptCeiling,
  openCeilingShop,
  parseCheckout,
} from '../../support/ceilingShop.js'
import {
  balanceOf,
  chain,
  fundedPayer,
  newAddress,
  send,
} from '../../support/checkoutDesk.js'
import { frontRun, mineSent } from '../../support/frontRun.js'
import {
  compileOddToken,
  type Oddity,
  oddities,
} from '../../support/oddTokens.js'
import { eventsOf } from '../../support/shop.js'
import { fileOf } from '../../support/watching.js'

const odd = compileOddToken()
const client = createReadClient({ chain: chain.chain, url: chain.urls.http })

const oddCall = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi: odd.abi, functionName, args })

/** A stored ceiling of 50 tokens, of a token that can change its behaviour. */
async function oddOrder() {
  const token = await deployDevContract(chain, {
    contract: odd,
    args: [oddities.indexOf('behaves')],
  })
  const shop = await openCeilingShop(chain, { tokens: [{ client, token }] })
  const payer = await fundedPayer()
  const data = oddCall('mint', [payer.address, 100_000_000n])
  await send(newAddress(), { to: token, data })
  const { order, payment } = await shop.orders.draft({
    atMost: '50.00',
    payer: payer.address,
  })
  const { id } = order
  const drafted = { id, payer, payment: parseCheckout(payment) }
  const verdict = await acceptCeiling(shop, drafted)
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  const switchCall = (oddity: Oddity) => ({
    to: token,
    data: oddCall('setOddity', [oddities.indexOf(oddity)]),
  })
  return { shop, id, payer, token, switchCall }
}

test.each([
  'takes a fee of every transfer',
  'takes a fee of transfers from contracts only',
] as const)(
  'a token that %s since the payment was accepted is not captured, and is once it delivers all again',
  async (oddity) => {
    const { shop, id, switchCall } = await oddOrder()
    const { orders } = shop
    await send(newAddress(), switchCall(oddity))
    expect(await orders.capture({ orderId: id, amount: '5' })).toMatchObject({
      status: 'rejected',
      reason: 'simulationFailed',
      order: { state: 'stored', needsReview: false },
    })
    const { context } = contextOf(orders)
    expect((await fileOf(context, id)).transactions).toEqual([])

    await send(newAddress(), switchCall('behaves'))
    expect(await orders.capture({ orderId: id })).toMatchObject({
      status: 'captured',
      order: { amount: '5' },
    })
  },
)

test('a token that delivers less while the capture is in flight: the order is consumed, what arrived is on record, and the audit agrees', async () => {
  const { shop, id, payer, token, switchCall } = await oddOrder()
  const { orders, seller } = shop
  const { working } = await frontRun(
    chain,
    switchCall('takes a fee of transfers from contracts only'),
    () => orders.capture({ orderId: id, amount: '5' }),
  )
  await mineSent(chain)
  expect(await working).toMatchObject({
    status: 'rejected',
    reason: 'consumed',
    order: { id, state: 'consumed', amount: '5', capture: undefined },
  })
  expect(await balanceOf(seller, token)).toBe(4_999_999n)
  expect(await balanceOf(payer.address, token)).toBe(94_999_999n)
  expect(await eventsOf(shop, id)).toEqual([
    'drafted',
    'accepted',
    'captureRequested',
    'capturing',
    'consumed',
  ])

  // What arrived is a difference until it is on record as a payment of no order.
  expect(await orders.audit()).toMatchObject({ ok: false })
  expect(await orders.reconcile()).toMatchObject({
    destinations: [{ captured: 0, unmatched: 1 }],
  })
  expect(await orders.audit()).toMatchObject({
    ok: true,
    destinations: [
      {
        chain: { count: 1, value: 4_999_999n },
        captured: { count: 0 },
        unmatched: { count: 1, value: 4_999_999n },
      },
    ],
  })
  expect(await orders.get({ orderId: id })).toMatchObject({
    state: 'consumed',
    amount: '5',
  })
  expect(await orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'consumed',
  })
})

test('a token that takes a fee of every transfer while the capture is in flight makes it revert, and the order stays', async () => {
  const { shop, id, payer, token, switchCall } = await oddOrder()
  const { orders } = shop
  const { working } = await frontRun(
    chain,
    switchCall('takes a fee of every transfer'),
    () => orders.capture({ orderId: id, amount: '5' }),
  )
  await mineSent(chain)
  expect(await working).toMatchObject({
    status: 'rejected',
    reason: 'simulationFailed',
    order: { state: 'stored', amount: '5' },
  })
  expect(await balanceOf(payer.address, token)).toBe(100_000_000n)
  await send(newAddress(), switchCall('behaves'))
  expect(await orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
    order: { amount: '5' },
  })
  expect(await orders.audit()).toMatchObject({ ok: true })
})
