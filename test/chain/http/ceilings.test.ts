import { signPayment } from 'countersign'
import {
  checkout,
  decodeCheckoutPayment,
  encodeCheckoutPayment,
} from 'countersign/checkout'
import { type Address, createWalletClient, http } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { startCeilingChain } from '../support/ceilingShop.js'
import { fundedAccount } from '../support/desk.js'
import { leaked, openDesk } from '../support/httpDesk.js'
import { balanceOf } from '../support/refundDesk.js'

const chain = await startCeilingChain()
afterAll(() => chain.stop())

const desk = await openDesk(chain, { kinds: [checkout] })
afterAll(() => desk.orders.close())

type Drafted = { order: { id: string }; buyerToken: string }

/** Drafts a ceiling, and signs it as the buyer's page does. */
async function sign(atMost: string) {
  const buyer = await fundedAccount(chain, 100_000_000n)
  const drafted = await desk.ask<Drafted>('POST /merchant/orders', {
    body: { atMost, payer: buyer.address },
  })
  expect(drafted.status).toBe(201)
  const { order, buyerToken: token } = drafted.body
  const path = `/orders/${order.id}`
  const given = await desk.ask<{ payment: unknown }>(`GET ${path}/payment`, {
    token,
  })
  const wallet = createWalletClient({
    account: buyer,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  const signed = await signPayment(wallet, {
    payment: decodeCheckoutPayment(given.body.payment),
    kind: checkout,
    expect: {
      chainId: chain.chain.id,
      token: chain.token,
      name: 'USD Coin',
      to: desk.seller,
      atMost,
    },
  })
  const body = JSON.parse(encodeCheckoutPayment(signed))
  return { path, token, buyer: buyer.address, body, id: order.id }
}

const capture = (id: string, body?: unknown) =>
  desk.ask(`POST /merchant/orders/${id}/capture`, {
    headers: { prefer: 'wait=25' },
    ...(body === undefined ? {} : { body }),
  })

const balance = (account: Address): Promise<bigint> => balanceOf(chain, account)

test('over HTTP a ceiling is signed, and an amount of it is captured once', async () => {
  const { id, path, token, buyer, body } = await sign('50.00')
  const accepted = await desk.ask(`POST ${path}/payment`, { token, body })
  expect(accepted).toMatchObject({
    status: 200,
    body: { state: 'stored', atMost: '50', amount: '50' },
  })

  expect(await capture(id)).toMatchObject({
    status: 400,
    body: { reason: 'invalidField', field: 'amount' },
  })
  expect(await capture(id, { amount: '50.01' })).toMatchObject({
    status: 409,
    body: { reason: 'exceedsCeiling' },
  })
  expect(await balance(buyer)).toBe(100_000_000n)

  expect(await capture(id, { amount: '42.10' })).toMatchObject({
    status: 200,
    body: {
      status: 'captured',
      order: { kind: 'checkout', amount: '42.1', atMost: '50' },
    },
  })
  expect(await capture(id, { amount: '7.90' })).toMatchObject({
    status: 409,
    body: { reason: 'otherAmount' },
  })
  expect(await capture(id)).toMatchObject({ status: 200 })
  expect(await balance(buyer)).toBe(57_900_000n)
  expect(await balance(desk.seller)).toBe(42_100_000n)
  expect(await desk.ask(`GET ${path}`, { token })).toMatchObject({
    body: { state: 'captured', amount: '42.1', atMost: '50' },
  })
  expect(leaked(desk.told, [body.signature])).toEqual([])
})

test('terms that another page signed are refused over HTTP', async () => {
  const { path, token, body } = await sign('50.00')
  const other = { ...body.checkout, operator: `0x${'0b'.repeat(20)}` }
  expect(
    await desk.ask(`POST ${path}/payment`, {
      token,
      body: { ...body, checkout: other },
    }),
  ).toMatchObject({ status: 400, body: { reason: 'invalidField' } })
  const { checkout: _terms, ...exact } = body
  expect(
    await desk.ask(`POST ${path}/payment`, { token, body: exact }),
  ).toMatchObject({ status: 400, body: { reason: 'invalidField' } })
})
