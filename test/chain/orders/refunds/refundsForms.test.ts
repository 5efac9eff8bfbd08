import { buildPayment, capturePayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { refundNonce } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseAbiParameters,
  stringToHex,
} from 'viem'
import { getBlock, mine } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { domainOf, mined } from '../../support/desk.js'
import { copyOrders } from '../../support/refundCopies.js'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  price,
  type RefundShop,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { pay, rowsOf } from '../../support/shop.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

/** The facts from which the nonces of an order's refunds follow. */
async function factsOf(shop: RefundShop, id: string, payer: Address) {
  const { attempts } = await rowsOf(shop, id)
  const nonce = attempts[0]?.nonce ?? '0x'
  return { chainId: 31337, token: chain.token, payer, nonce, index: 0 }
}

/** The nonce that every refund had before tokens with keyed nonces were known. */
const plainNonce = (facts: Awaited<ReturnType<typeof factsOf>>): Hex =>
  keccak256(
    encodeAbiParameters(
      parseAbiParameters(
        'bytes32, uint256, address, address, bytes32, uint256',
      ),
      [
        stringToHex('countersign refund', { size: 32 }),
        BigInt(facts.chainId),
        facts.token,
        facts.payer,
        facts.nonce,
        BigInt(facts.index),
      ],
    ),
  )

/** Pays a refund as an earlier version with another database did. */
async function payPlain(
  shop: RefundShop,
  id: string,
  to: Address,
  amount: string,
): Promise<void> {
  const { timestamp } = await getBlock(chain.clients.public)
  const refund = buildPayment({
    domain: domainOf(chain.token),
    primaryType: 'TransferWithAuthorization',
    from: shop.seller,
    to,
    amount,
    now: timestamp,
    nonce: plainNonce(await factsOf(shop, id, to)),
  })
  const payment = await pay(shop.account, refund as Parameters<typeof pay>[1])
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  await mine(chain.clients.test, { blocks: 3 })
}

test('the refund of a drafted payment starts the sequence of a new key', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  const facts = await factsOf(shop, id, buyer.address)
  const hash = plainNonce(facts)
  expect(refundNonce(facts)).toBe(`${hash.slice(0, 50)}${'0'.repeat(16)}`)
  await requestRefund(shop.orders, id, 'one')
  const { nonce } = await carryToEnd(shop, id, 'one')
  expect(nonce).toBe(refundNonce(facts))
  await shop.orders.close()
})

test('a restored database adopts a refund that an earlier version paid, and pays it no second time', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  await chain.mint({ to: shop.seller, value: 10n * price })
  await shop.look()
  const backup = memoryStore()
  await copyOrders(shop.store, backup, shop.context.destinations)
  await payPlain(shop, id, buyer.address, '10')
  await shop.orders.close()

  const restored = await openRefundShop(chain, {
    store: backup,
    account: shop.account,
  })
  await requestRefund(restored.orders, id, 'again', '10')
  await restored.workUntil(async () => {
    const refund = { orderId: id, refundId: 'again' }
    const { state } = await restored.orders.getRefund(refund)
    return state !== 'requested' && state !== 'sending'
  })
  expect(await restored.orders.get({ orderId: id })).toMatchObject({
    refunded: 10_000_000n,
    refunds: [
      { refundId: 'again', state: 'failed', failure: 'exceedsCaptured' },
      { state: 'succeeded', amount: '10' },
    ],
  })
  await requestRefund(restored.orders, id, 'rest')
  await carryToEnd(restored, id, 'rest')
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  await restored.orders.reconcile()
  expect(await restored.orders.audit()).toMatchObject({ ok: true })
  await restored.orders.close()
})

test('nothing is offered for signing while a refund of an earlier version is on chain and not on record', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  await shop.look()
  await payPlain(shop, id, buyer.address, '10')
  await requestRefund(shop.orders, id, 'one', '2.5')
  const ids = { orderId: id, refundId: 'one' }
  expect(await shop.orders.refundToSign(ids)).toMatchObject({
    ok: false,
    reason: 'otherRefund',
  })
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    refunded: 10_000_000n,
  })
  await shop.orders.close()
})

test('a refund on record keeps the nonce of an earlier version, and the next one takes the next index', async () => {
  const shop = await openRefundShop(chain)
  const { id, buyer } = await shop.sell()
  const ids = { orderId: id, refundId: 'one' }
  await requestRefund(shop.orders, id, 'one', '5')
  expect(await shop.orders.refundToSign(ids)).toMatchObject({ ok: true })
  const facts = await factsOf(shop, id, buyer.address)
  const nonce = plainNonce(facts)
  await shop.store.write(async ({ attempts }) => {
    const [attempt] = await attempts.find({ orderIds: [`${id}\tone`] })
    if (attempt) await attempts.update([{ ...attempt, nonce }])
  })
  expect(await shop.orders.refundToSign(ids)).toMatchObject({
    payment: { message: { nonce } },
  })
  await requestRefund(shop.orders, id, 'two', '7.5')
  expect(
    await shop.orders.refundToSign({ ...ids, refundId: 'two' }),
  ).toMatchObject({ reason: 'otherRefund' })
  expect((await carryToEnd(shop, id, 'one')).nonce).toBe(nonce)
  const two = await carryToEnd(shop, id, 'two')
  expect(two.nonce).toBe(refundNonce({ ...facts, index: 1 }))
  expect(await balanceOf(chain, buyer.address)).toBe(price)
  await shop.orders.close()
})
