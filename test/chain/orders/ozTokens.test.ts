import {
  buildPayment,
  capturePayment,
  getPaymentOutcome,
  getToken,
  preparePayment,
  signCancellation,
  verifyPayment,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { type Address, createClient, custom, erc20Abi, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getBlock, mine, readContract } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fundedAccount } from '../support/desk.js'
import {
  deployOzToken,
  mintOz,
  type OzToken,
  sequenceOf,
} from '../support/ozTokens.js'
import {
  carryToEnd,
  openRefundShop,
  policy,
  price,
  type RefundShop,
  requestRefund,
  startRefundChain,
} from '../support/refundDesk.js'
import { pay } from '../support/shop.js'

let chain: DevChain
const tokens = {} as Record<OzToken, Address>
beforeAll(async () => {
  chain = await startRefundChain()
  for (const name of ['PlainNonces', 'KeyedNonces'] as const)
    tokens[name] = await deployOzToken(chain, name)
})
afterAll(() => chain.stop())

async function openOzShop(name: OzToken): Promise<RefundShop> {
  return openRefundShop(chain, {
    changes: {
      tokens: [tokens[name]],
      policy: { ...policy, relayCancellations: 'always' },
    },
  })
}

/** A buyer with the price of one order. */
async function buyerOf(name: OzToken): Promise<PrivateKeyAccount> {
  const buyer = await fundedAccount(chain)
  await mintOz(chain, tokens[name], buyer.address, price)
  return buyer
}

/** An order that a buyer has signed. */
async function storeOrder({ orders }: RefundShop, name: OzToken) {
  const buyer = await buyerOf(name)
  const token = tokens[name]
  const { order, payment } = await orders.draft({ amount: '12.50', token })
  const signed = await pay(buyer, payment)
  const verdict = await orders.accept({ orderId: order.id, payment: signed })
  if (!verdict.ok) throw new Error(verdict.reason)
  return { id: order.id, buyer, signed }
}

/** An order that is captured in a final block. */
async function sell(shop: RefundShop, name: OzToken) {
  const stored = await storeOrder(shop, name)
  const result = await shop.orders.capture({ orderId: stored.id })
  if (result.status !== 'captured') throw new Error(result.status)
  await mine(chain.clients.test, { blocks: 3 })
  return stored
}

const balanceOf = (name: OzToken, account: Address): Promise<bigint> =>
  readContract(chain.clients.public, {
    address: tokens[name],
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })

/** Signs as a page with this account does. */
const pageOf = (account: PrivateKeyAccount) =>
  createClient({
    account,
    chain: chain.chain,
    transport: custom(chain.clients.public),
  })

describe.each(['PlainNonces', 'KeyedNonces'] as const)(
  "OpenZeppelin's token with %s",
  (name) => {
    test('says what it can do', async () => {
      const { capabilities } = await getToken(chain.clients.public, {
        token: tokens[name],
      })
      expect(capabilities).toMatchObject({
        receive: true,
        transfer: true,
        cancel: true,
        bytes: name === 'KeyedNonces',
      })
    })

    test('is drafted, captured, and refunded in two parts', async () => {
      const shop = await openOzShop(name)
      const { id, buyer } = await sell(shop, name)
      expect(await balanceOf(name, shop.seller)).toBe(price)
      await requestRefund(shop.orders, id, 'one', '5')
      await requestRefund(shop.orders, id, 'two', '7.5')
      for (const refundId of ['one', 'two'])
        expect(await carryToEnd(shop, id, refundId)).toMatchObject({
          state: 'succeeded',
        })
      expect(await balanceOf(name, buyer.address)).toBe(price)
      expect(await shop.orders.get({ orderId: id })).toMatchObject({
        state: 'captured',
        refunded: price,
      })
      expect(await shop.orders.audit()).toMatchObject({ ok: true })
      await shop.orders.close()
    })

    test('is canceled by a buyer, relayed by the shop, and never captured', async () => {
      const shop = await openOzShop(name)
      const { id, buyer, signed } = await storeOrder(shop, name)
      const asked = await shop.orders.cancellationToSign({ orderId: id })
      if (!asked.ok) throw new Error(asked.reason)
      const cancellation = await signCancellation(pageOf(buyer), {
        cancellation: asked.cancellation,
        expect: {
          chainId: 31337,
          token: tokens[name],
          nonce: signed.message.nonce,
        },
      })
      expect(
        await shop.orders.acceptCancellation({ orderId: id, cancellation }),
      ).toMatchObject({ ok: true })
      await shop.workUntil(async () => {
        const { state } = await shop.orders.get({ orderId: id })
        return state === 'canceled'
      })
      expect(
        await getPaymentOutcome(chain.clients.public, { payment: signed }),
      ).toMatchObject({ status: 'canceled' })
      expect(
        await verifyPayment(chain.clients.public, {
          payment: signed,
          expect: {
            token: tokens[name],
            to: shop.seller,
            amount: '12.50',
          },
        }),
      ).toMatchObject({ ok: false, reason: 'consumed' })
      expect(await balanceOf(name, buyer.address)).toBe(price)
      await shop.orders.close()
    })

    test('takes a prepared payment, once', async () => {
      const buyer = await buyerOf(name)
      const { merchant, public: client } = chain.clients
      const payment = await preparePayment(client, {
        token: tokens[name],
        from: buyer.address,
        to: merchant.account.address,
        amount: '12.50',
      })
      const signed = await pay(buyer, payment as Parameters<typeof pay>[1])
      const capture = capturePayment(merchant, { payment: signed })
      await mine(chain.clients.test, { blocks: 1 })
      await capture
      await mine(chain.clients.test, { blocks: 1 })
      expect(
        await getPaymentOutcome(client, { payment: signed }),
      ).toMatchObject({ status: 'captured' })
      await expect(
        capturePayment(merchant, { payment: signed }),
      ).rejects.toMatchObject({ reason: 'consumed' })
    })
  },
)

/** A payment to the merchant with a nonce that the payer chose. */
async function signNonce(name: OzToken, nonce: Hex | undefined) {
  const buyer = await buyerOf(name)
  const { merchant, public: client } = chain.clients
  const { domain } = await getToken(client, { token: tokens[name] })
  const { timestamp } = await getBlock(client)
  const to = merchant.account.address
  const payment = buildPayment({
    domain,
    from: buyer.address,
    to,
    amount: '12.50',
    now: timestamp,
    nonce,
  })
  const signed = await pay(buyer, payment as Parameters<typeof pay>[1])
  const expected = { token: tokens[name], to, amount: '12.50' }
  return {
    signed,
    verdict: () => verifyPayment(client, { payment: signed, expect: expected }),
  }
}

test('the token with keyed nonces names a nonce that is not the next of its key', async () => {
  const random: Hex = `0x${'5e'.repeat(32)}`
  for (const nonce of [random, sequenceOf(random, 1)]) {
    const { signed, verdict } = await signNonce('KeyedNonces', nonce)
    expect(await verdict()).toMatchObject({
      ok: false,
      reason: 'wrongNonce',
      details: { words: 'InvalidAccountNonce()' },
    })
    await expect(
      capturePayment(chain.clients.merchant, { payment: signed }),
    ).rejects.toMatchObject({ reason: 'wrongNonce' })
  }
  const first = await signNonce('KeyedNonces', sequenceOf(random, 0))
  expect(await first.verdict()).toMatchObject({ ok: true })
})

test('the token with plain nonces takes any nonce', async () => {
  const { verdict } = await signNonce('PlainNonces', `0x${'5e'.repeat(32)}`)
  expect(await verdict()).toMatchObject({ ok: true })
})
