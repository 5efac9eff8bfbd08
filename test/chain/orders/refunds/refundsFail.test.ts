import type { DevChain } from 'countersign/devchain'
import { createClient, erc20Abi, http } from 'viem'
import { mine, writeContract } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundedAccount, mined } from '../../support/desk.js'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  policy,
  price,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { eventsOf } from '../../support/shop.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

test('a refund from an empty account fails, stays reserved, and is paid once there are tokens', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  const wallet = createClient({
    account: shop.account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  await mined(
    chain,
    writeContract(wallet, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [chain.clients.relayer.account.address, price],
    }),
  )
  await requestRefund(shop.orders, id, 'one')
  const get = () => shop.orders.getRefund({ orderId: id, refundId: 'one' })
  await shop.workUntil(async () => (await get()).state === 'failed')
  expect(await get()).toMatchObject({
    failure: 'insufficientFunds',
    reserved: true,
  })
  await chain.mint({ to: shop.seller, value: price })
  await shop.workUntil(async () => {
    await chain.warp(5)
    return (await get()).state === 'succeeded'
  })
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  const types = await eventsOf(shop, id)
  expect(types.filter((type) => type === 'refundFailed')).toHaveLength(1)
  await shop.orders.close()
})

test('a refund while the token is paused fails with that reason, and is paid later', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  await chain.pause()
  await requestRefund(shop.orders, id, 'one')
  const get = () => shop.orders.getRefund({ orderId: id, refundId: 'one' })
  await shop.workUntil(async () => (await get()).state === 'failed')
  expect((await get()).failure).toBe('paused')
  await chain.pause(false)
  await shop.workUntil(async () => {
    await chain.warp(5)
    return (await get()).state === 'succeeded'
  })
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  await shop.orders.close()
})

test('one refund that cannot be paid does not hold up the refunds of others', async () => {
  const shop = await openRefundShop(chain)
  const [first, second] = [await shop.sell(), await shop.sell()]
  await chain.block({ account: first.buyer.address })
  await requestRefund(shop.orders, first.id, 'one')
  await requestRefund(shop.orders, second.id, 'one')
  await carryToEnd(shop, second.id, 'one')
  expect(await balanceOf(chain, second.buyer.address)).toBe(price)
  expect(
    await shop.orders.getRefund({ orderId: first.id, refundId: 'one' }),
  ).toMatchObject({ state: 'failed', failure: 'payerBlocked' })
  await shop.orders.close()
})

test('a signer that hangs over a refund holds up no order of its destination', async () => {
  let asked = 0
  const account = {
    ...(await fundedAccount(chain)),
    signTypedData: () => {
      asked++
      return new Promise<never>(() => undefined)
    },
  }
  const shop = await openRefundShop(chain, {
    account,
    changes: { policy: { ...policy, signTimeout: 3_600_000 } },
  })
  const first = await shop.sell()
  await requestRefund(shop.orders, first.id, 'one')
  await shop.workUntil(async () => asked > 0)
  const second = await shop.sell()
  await shop.workUntil(async () => {
    const { capture } = await shop.orders.get({ orderId: second.id })
    return capture?.finality === 'finalized'
  })
  expect(
    await shop.orders.getRefund({ orderId: first.id, refundId: 'one' }),
  ).toMatchObject({ state: 'requested', reserved: true })
  expect(asked).toBeGreaterThan(0)
  await shop.orders.close()
})

test.each(['replayed', 'dropped'] as const)(
  'a reorganization whose transactions are %s puts a refund back, and it is paid once',
  async (transactions) => {
    const shop = await openRefundShop(chain)
    const { id, buyer } = await shop.sell()
    await requestRefund(shop.orders, id, 'one')
    const get = () => shop.orders.getRefund({ orderId: id, refundId: 'one' })
    await shop.workUntil(async () => (await get()).state === 'succeeded')
    expect((await get()).transfer?.finality).not.toBe('finalized')
    const block = (await get()).transfer?.blockNumber ?? 0n
    const latest = await chain.clients.public.getBlockNumber()
    const depth = Number(latest - block) + 1
    await chain.reorg({ depth, transactions })
    await mine(chain.clients.test, { blocks: 1 })
    await carryToEnd(shop, id, 'one')
    expect(await balanceOf(chain, buyer.address)).toBe(price)
    expect(await shop.orders.get({ orderId: id })).toMatchObject({
      refunded: price,
      refundable: 0n,
    })
    await shop.orders.close()
  },
)
