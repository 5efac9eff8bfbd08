import { createFacilitator } from 'countersign/x402'
import type { Hex } from 'viem'
import { serializeErc6492Signature } from 'viem/utils'
import { afterAll, expect, test, vi } from 'vitest'
import { fundedAccount, newAccount } from '../support/desk.js'
import { openFacilitator, transfersTo } from '../support/facilitatorShop.js'
import { openShop, pay, setOrder } from '../support/shop.js'
import {
  price,
  sign402,
  startFacilitatorChain,
} from '../support/stockFacilitator.js'

const chain = await startFacilitatorChain()
afterAll(() => chain.stop())

test('a payer cannot be charged more than the balance: what is too much is never sent', async () => {
  const shop = await openFacilitator(chain)
  const { payer, ...one } = await shop.pay()
  const two = await sign402(chain, payer, shop.seller)
  const answers = await Promise.all([shop.settle(one), shop.settle(two)])
  const reasons = answers.map(({ errorReason = '' }) => errorReason)
  expect(reasons.sort()).toEqual(['', 'invalid_exact_evm_insufficient_balance'])
  const address = shop.seller
  const sent = await chain.clients.public.getTransactionCount({ address })
  expect(sent).toBe(1)
  await shop.orders.close()
})

test('while a payer waits for review, no further payment of that payer is captured', async () => {
  const shop = await openFacilitator(chain)
  const buyer = await fundedAccount(chain, 3n * price)
  const drafted = await shop.orders.draft({ amount: '12.50' })
  const { id } = drafted.order
  const payment = await pay(buyer, drafted.payment)
  await shop.orders.accept({ orderId: id, payment })
  await setOrder(shop, id, { needsReview: true })

  const sent = await sign402(chain, buyer, shop.seller)
  expect(await shop.settle(sent)).toMatchObject({
    success: false,
    errorReason: 'invalid_exact_evm_transaction_simulation_failed',
    transaction: '',
  })
  expect(await transfersTo(chain, shop.seller)).toBe(0)
  await shop.orders.close()
})

test('a call asks nobody but the node, whatever addresses a payload names', async () => {
  const shop = await openFacilitator(chain)
  const sent = await shop.pay({ resource: '/a' })
  sent.paymentPayload.resource = {
    url: 'http://127.0.0.1:9/resource',
    iconUrl: 'http://127.0.0.1:9/icon',
  }
  sent.paymentPayload.extensions = { bazaar: { url: 'http://127.0.0.1:9/x' } }
  const asked = vi.spyOn(globalThis, 'fetch')
  expect(await shop.verify(sent)).toMatchObject({ isValid: true })
  expect(await shop.settle(sent)).toMatchObject({ success: true })
  const urls = asked.mock.calls.map(
    ([input]) => new URL(input instanceof Request ? input.url : input).origin,
  )
  asked.mockRestore()
  expect(new Set(urls)).toEqual(new Set([chain.urls.http]))
  await shop.orders.close()
})

test('a wallet that is not there yet is not deployed', async () => {
  const shop = await openFacilitator(chain, {
    facilitator: { contractPayers: 'accept' },
  })
  const sent = await shop.pay({ authorization: { from: newAccount().address } })
  const { payload } = sent.paymentPayload
  payload.signature = serializeErc6492Signature({
    address: chain.token,
    data: '0x12345678',
    signature: payload.signature as Hex,
  })
  expect(await shop.settle(sent)).toMatchObject({
    errorReason: 'eip6492_factory_not_allowed',
  })
  const address = shop.seller
  expect(await chain.clients.public.getTransactionCount({ address })).toBe(0)
  await shop.orders.close()
})

test('only recipients and tokens on the list of the facilitator are settled', async () => {
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const { address: first = chain.token } = sellers[0] ?? {}
  const { address: second = chain.token } = sellers[1] ?? {}
  const shop = await openFacilitator(chain, {
    orders: { sellers },
    facilitator: { payTo: [first] },
  })
  const payer = await fundedAccount(chain, 2n * price)
  expect(await shop.settle(await sign402(chain, payer, second))).toMatchObject({
    errorReason: 'invalid_payment_requirements',
  })
  expect(await shop.settle(await sign402(chain, payer, first))).toMatchObject({
    success: true,
  })
  await shop.orders.close()
})

test.each([
  [{ payTo: ['0x1'] }, /payTo\[0\]/],
  [{ payTo: [chain.token] }, /payTo\[0\].*must be one of/],
  [{ assets: [chain.clients.payer.account.address] }, /assets\[0\]/],
  [{ timeout: -1 }, /timeout/],
  [{ basePath: 'x' }, /basePath/],
  [{ contractPayers: 'yes' }, /contractPayers/],
  [{ authorize: undefined }, /authorize/],
  [{ orders: {} }, /orders/],
  [{ other: 1 }, /other/],
])('a facilitator is not created with %j', async (changes, message) => {
  const shop = await openShop(chain)
  const parameters = { orders: shop.orders, authorize: () => undefined }
  expect(() =>
    createFacilitator({ ...parameters, ...changes } as never),
  ).toThrow(message)
})

test('a payment of nothing is not settled, and costs no gas', async () => {
  const shop = await openFacilitator(chain)
  const payer = await fundedAccount(chain, price)
  const sent = await sign402(chain, payer, shop.seller, {
    requirements: { amount: '0' },
  })
  const before = await transfersTo(chain, shop.seller)
  expect(await shop.verify(sent)).toMatchObject({
    invalidReason: 'invalid_payment_requirements',
  })
  expect(await shop.settle(sent)).toMatchObject({
    success: false,
    errorReason: 'invalid_payment_requirements',
  })
  expect(await transfersTo(chain, shop.seller)).toBe(before)
  await shop.orders.close()
})

test.each([
  { name: '' },
  { name: 'x'.repeat(129) },
  { name: 'ü' },
  { name: 'one', gasPerDay: 5 },
  { name: 'one', deduplicates: 'yes' },
  { name: 'one', payTo: ['0x1'] },
  { name: 'one', more: 1 },
])('a caller is not taken as %j', async (caller) => {
  const { orders } = await openShop(chain)
  const facilitator = createFacilitator({ orders, authorize: () => undefined })
  expect(() => facilitator.schemeFor(caller as never)).toThrow(/caller/)
})
