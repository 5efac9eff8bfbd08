import { signPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  balanceOf,
  carryToEnd,
  openRefundShop,
  policy,
  price,
  requestRefund,
  startRefundChain,
} from '../../support/refundDesk.js'
import { shows, storedOrder } from '../../support/shop.js'

let chain: DevChain
beforeAll(async () => {
  chain = await startRefundChain()
})
afterAll(() => chain.stop())

test('a recipient without a wallet signs elsewhere, and another account sends', async () => {
  const cold = privateKeyToAccount(generatePrivateKey())
  const sender = await fundedAccount(chain)
  const shop = await openRefundShop(chain, {
    account: sender,
    changes: {
      policy: { ...policy },
      sellers: [sender],
      recipients: [cold.address],
    },
  })
  const { id, buyer } = await shop.sell({
    recipient: cold.address,
    primaryType: 'TransferWithAuthorization',
  })
  const ids = { orderId: id, refundId: 'one' }
  await requestRefund(shop.orders, id, 'one', '2.5')
  await shop.look()
  expect((await shop.orders.getRefund(ids)).state).toBe('requested')

  const toSign = await shop.orders.refundToSign(ids)
  if (!toSign.ok) throw new Error(toSign.reason)
  const { payment } = toSign
  expect(await shop.orders.refundToSign(ids)).toEqual(toSign)
  const wallet = createClient({
    account: cold,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  const { signature } = await signPayment(wallet, {
    payment,
    expect: {
      chainId: 31337,
      token: chain.token,
      to: buyer.address,
      amount: '2.5',
      primaryType: 'TransferWithAuthorization',
      maxWindow: 90_000n,
    },
    now: payment.message.validAfter,
  })
  const stranger = await sender.signMessage({ message: 'something else' })
  expect(
    await shop.orders.acceptRefund({ ...ids, signature: stranger }),
  ).toMatchObject({ ok: false, reason: 'wrongSigner' })
  const verdict = await shop.orders.acceptRefund({ ...ids, signature })
  expect(verdict).toMatchObject({ ok: true, refund: { state: 'sending' } })
  expect(shows(verdict, { signature })).toBe(false)
  expect(await shop.orders.acceptRefund({ ...ids, signature })).toMatchObject({
    ok: true,
  })
  const done = await carryToEnd(shop, id, 'one')
  expect(done.transfer?.submitter).toBe(sender.address.toLowerCase())
  expect(await balanceOf(chain, buyer.address)).toBe(2_500_000n)
  expect(await balanceOf(chain, cold.address)).toBe(price - 2_500_000n)
  await shop.orders.close()
})

test('there is nothing to sign before the capture is final, nor of an unknown refund', async () => {
  const shop = await openRefundShop(chain)
  const { id } = await storedOrder(chain, shop)
  await shop.orders.capture({ orderId: id })
  await requestRefund(shop.orders, id, 'one')
  expect(
    await shop.orders.refundToSign({ orderId: id, refundId: 'one' }),
  ).toMatchObject({ ok: false, reason: 'notFinal' })
  const error = await shop.orders
    .refundToSign({ orderId: id, refundId: 'none' })
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'RefundNotFoundError' })
  await shop.orders.close()
})
