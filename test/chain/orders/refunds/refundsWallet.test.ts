import type { DevChain } from 'countersign/devchain'
import { type Client, createClient, custom, type EIP1193RequestFn } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  policy,
  price,
  type RefundShop,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { eventsOf } from '../../support/shop.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

type Sign = (forward: () => Promise<unknown>) => Promise<unknown>

/** A shop whose wallet is an account of the node's own; `sign` stands between. */
async function openWalletShop(
  at: number,
  sign: Sign,
): Promise<{ shop: RefundShop; asked: () => number }> {
  const account = chain.accounts[at]
  if (!account) throw new Error('no account left')
  let asked = 0
  const forward: EIP1193RequestFn = chain.clients.public.request
  const wallet: Client = createClient({
    account: { address: account.address, type: 'json-rpc' },
    chain: chain.chain,
    transport: custom(
      {
        request: (request) => {
          if (request.method !== 'eth_signTypedData_v4') return forward(request)
          asked++
          return sign(() => forward(request))
        },
      },
      { retryCount: 0 },
    ),
  })
  const shop = await openRefundShop(chain, {
    account,
    changes: {
      sellers: [account],
      wallets: [wallet],
      policy: { ...policy, walletTimeout: 3_600_000 },
    },
  })
  return { shop, asked: () => asked }
}

const declined: Sign = () =>
  Promise.reject(Object.assign(new Error('User rejected.'), { code: 4001 }))

test('a JSON-RPC wallet signs a refund and sends it', async () => {
  const { shop, asked } = await openWalletShop(3, (forward) => forward())
  const { id, buyer } = await shop.sell()
  await requestRefund(shop.orders, id, 'one', '5')
  await carryToEnd(shop, id, 'one')
  await requestRefund(shop.orders, id, 'two')
  await carryToEnd(shop, id, 'two')
  expect(asked()).toBe(2)
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  await shop.orders.close()
})

test('a refund that the person at the wallet declines fails at once, is asked for once, and can be requested again', async () => {
  let sign = declined
  const { shop, asked } = await openWalletShop(4, (forward) => sign(forward))
  const { id, buyer } = await shop.sell()
  await requestRefund(shop.orders, id, 'one', '5')
  const get = () => shop.orders.getRefund({ orderId: id, refundId: 'one' })
  await shop.workUntil(async () => (await get()).state === 'failed')
  let looks = 12
  await shop.workUntil(async () => looks-- <= 0)
  expect(await get()).toMatchObject({
    state: 'failed',
    failure: 'signingDeclined',
    reserved: false,
  })
  expect(asked()).toBe(1)
  expect((await shop.orders.get({ orderId: id })).refundable).toBe(price)
  const types = await eventsOf(shop, id)
  expect(types.filter((type) => type === 'refundFailed')).toHaveLength(1)

  sign = (forward) => forward()
  await requestRefund(shop.orders, id, 'two', '3')
  await carryToEnd(shop, id, 'two')
  await requestRefund(shop.orders, id, 'one', '5')
  await carryToEnd(shop, id, 'one')
  expect(asked()).toBe(3)
  expect(await balanceOf(chain, buyer.address)).toBe(8_000_000n)
  expect(await shop.orders.audit()).toMatchObject({ ok: true })
  await shop.orders.close()
})

test('a JSON-RPC wallet that hangs over a refund holds up no capture and no other recipient', async () => {
  const hangs: Sign = () => new Promise(() => undefined)
  const { shop, asked } = await openWalletShop(5, hangs)
  const first = await shop.sell()
  await requestRefund(shop.orders, first.id, 'one')
  await shop.workUntil(async () => asked() > 0)
  const second = await shop.sell()
  await shop.workUntil(async () => {
    const { capture } = await shop.orders.get({ orderId: second.id })
    return capture?.finality === 'finalized'
  })
  const other = await openRefundShop(chain, { store: shop.store })
  const third = await other.sell()
  await requestRefund(other.orders, third.id, 'one')
  await Promise.all([
    carryToEnd(other, third.id, 'one'),
    shop.workUntil(async () => {
      const get = { orderId: third.id, refundId: 'one' }
      return (await other.orders.getRefund(get)).state === 'succeeded'
    }),
  ])
  expect(
    await shop.orders.getRefund({ orderId: first.id, refundId: 'one' }),
  ).toMatchObject({ state: 'requested', reserved: true })
  expect(await balanceOf(chain, third.buyer.address)).toBe(price)
  await Promise.all([shop.orders.close(), other.orders.close()])
})
