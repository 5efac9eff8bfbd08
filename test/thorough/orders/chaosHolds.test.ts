import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { acceptCancellation } from '../../../src/orders/verbs/acceptCancellation.js'
import { draft, fundedAccount, revoke } from '../../chain/support/desk.js'
import {
  capture,
  openShop,
  rowsOf,
  type ShopParameters,
  storeOrder,
} from '../../chain/support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

/** A capture that fails on chain, and two orders of the same payer behind it. */
async function holdPayer() {
  let isFirst = true
  const signer = await fundedAccount(chain, 10_000_000n)
  const payer = { account: signer.address }
  const answer: ShopParameters['answer'] = async ({ method }, forward) => {
    if (method !== 'eth_sendRawTransaction' || !isFirst) return forward()
    isFirst = false
    await chain.block(payer)
    const sent = await forward()
    await chain.block({ ...payer, blocked: false })
    return sent
  }
  const account = await fundedAccount(chain)
  const policy = { maxInFlight: 1, relayCancellations: 'always' } as const
  const shop = openShop(chain, { account, answer, policy })
  const changes = { to: account.address, amount: '1', signer }
  const payments = await Promise.all(
    [300n, 600n, 900n].map(async (window) => {
      const { message } = await draft(chain, changes)
      const validBefore = message.validAfter + window
      return draft(chain, { ...changes, validBefore })
    }),
  )
  const ids: string[] = []
  for (const payment of payments) ids.push(await storeOrder(shop, payment))
  const cancelLast = async () => {
    const [, , payment] = payments
    if (!payment) throw new Error('no payment')
    const cancellation = await revoke(chain, payment, signer)
    return acceptCancellation(shop.context, {
      orderId: ids[2] ?? '',
      cancellation,
    })
  }
  return { shop, ids, cancelLast }
}

test('what a buyer canceled is canceled, though a capture of the same buyer failed', async () => {
  const { shop, ids, cancelLast } = await holdPayer()
  const [failing = '', waiting = '', canceled = ''] = ids
  expect(await cancelLast()).toMatchObject({ ok: true })
  const results = await Promise.all([
    capture(shop, failing),
    capture(shop, waiting),
    capture(shop, canceled),
  ])
  expect(results).toMatchObject([
    {
      status: 'rejected',
      reason: 'payerBlocked',
      order: { needsReview: true },
    },
    { status: 'rejected', reason: 'needsReview', order: { needsReview: true } },
    { status: 'rejected', reason: 'canceled', order: { state: 'canceled' } },
  ])
})

test('an order that is held can be canceled', async () => {
  const { shop, ids, cancelLast } = await holdPayer()
  const [failing = '', , canceled = ''] = ids
  await capture(shop, failing)
  const { orders } = await rowsOf(shop, [canceled])
  expect(orders).toMatchObject([{ needsReview: true, requested: undefined }])
  expect(await cancelLast()).toMatchObject({ ok: true })
  expect(await capture(shop, canceled)).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
  })
})
