import type { Address } from 'viem'
import { expect, test, vi } from 'vitest'
import {
  channelOf,
  channelOfferOf,
  type Signing,
} from '../../support/channelPayer.js'
import { fundedAccount } from '../../support/desk.js'
import {
  deposit,
  most,
  openedChannel,
  openMockShop,
  payBy,
  sendHeader,
} from '../../support/mockChannelShop.js'
import { chain, requiredBy } from '../../support/x402Desk.js'

const handler = vi.fn((request: Request) =>
  Response.json({ secret: request.url }),
)
const shop = await openMockShop(
  (request, payment) => {
    const costs = new URL(request.url).searchParams.get('costs')
    if (costs !== null) payment.charge?.(costs)
    return handler(request)
  },
  {
    offers: {
      half: {
        flow: 'channel',
        atMost: '0.005',
        deposit: '1.00',
        withdrawDelay: 900,
      },
    },
  },
)
const { url, desk } = shop
const scheme = 'invalid_batch_settlement_evm_'

const idOf = async (payer: Address) =>
  channelOf(payer, channelOfferOf(await fetch(`${url}/tokens`))).id

/** Claims all that was charged: the claim's call shows its voucher. */
async function claim(payer: Address) {
  const id = await idOf(payer)
  const { charged, balance } = shop.rows.get(id) ?? {}
  if (charged === undefined || balance === undefined)
    throw new Error('no channel')
  shop.onChain.set(id, { balance, claimed: charged, withdrawing: 0n })
  await shop.copy(id)
}

const refund: Signing['spoil'] = (payload) => ({ ...payload, type: 'refund' })

test('a claimed voucher for more than was charged opens no answer that is kept', async () => {
  const account = await openedChannel(url)
  const asked = `${url}/tokens?costs=0.005`
  const { header } = await payBy(account, asked, { max: 2n * most })
  await claim(account.address)
  const answer = await sendHeader(asked, header)
  expect(await answer.text()).not.toContain('secret')
  expect(requiredBy(answer).error).toBe(`${scheme}cumulative_below_claimed`)
  expect(channelOfferOf(answer).extra).not.toHaveProperty('channelState')
})

test('a claimed voucher for more than was charged pays for nothing', async () => {
  const account = await openedChannel(url)
  await payBy(account, `${url}/tokens?costs=0.005`, { max: 2n * most })
  await claim(account.address)
  handler.mockClear()
  // Whoever has the signature of the claim's call can write this.
  const answer = await payBy(account, `${url}/half`, { max: 2n * most })
  expect(answer.status).toBe(402)
  expect(handler).not.toHaveBeenCalled()
  const { charged } = shop.rows.get(await idOf(account.address)) ?? {}
  expect(charged).toBe(15_000n)
})

test('a voucher of an earlier claim does not show the newest one', async () => {
  const account = await openedChannel(url)
  const asked = `${url}/tokens?costs=0.005`
  const { header } = await payBy(account, asked, { max: 2n * most })
  await claim(account.address)
  const next = await payBy(account, `${url}/tokens?b`, { max: 25_000n })
  expect(next.status).toBe(200)
  const answer = await sendHeader(asked, header)
  expect(requiredBy(answer).error).toBe(`${scheme}cumulative_below_claimed`)
  expect(channelOfferOf(answer).extra).not.toHaveProperty('voucherState')
})

test('a client that lost its state is put in step after a claim', async () => {
  const account = await openedChannel(url)
  await claim(account.address)
  await payBy(account, `${url}/tokens?a`, { max: 2n * most })
  await payBy(account, `${url}/tokens?b`, { max: 3n * most })
  const answer = await payBy(account, `${url}/tokens?c`, { max: 2n * most })
  expect(channelOfferOf(answer).extra).toMatchObject({
    voucherState: { signedMaxClaimable: '30000' },
  })
})

test('who takes a claimed voucher cannot have the deposit paid back again and again', async () => {
  const account = await openedChannel(url)
  await claim(account.address)
  const signing = { max: most, spoil: refund }
  const answer = await payBy(account, `${url}/tokens`, signing)
  expect(requiredBy(answer).error).toBe(`${scheme}refund_amount_invalid`)
  expect(desk.refund).not.toHaveBeenCalled()
})

test('who was charged nothing cannot deposit and ask for refunds without end', async () => {
  const account = await fundedAccount(chain, deposit)
  await payBy(account, `${url}/tokens?costs=0`, { max: most, deposit })
  const signing = { max: 0n, spoil: refund }
  const answer = await payBy(account, `${url}/tokens`, signing)
  expect(requiredBy(answer).error).toBe(`${scheme}refund_amount_invalid`)
  expect(desk.refund).not.toHaveBeenCalled()
})

test('a payer whose charges are claimed gets back a large rest, once', async () => {
  const account = await openedChannel(url)
  const id = await idOf(account.address)
  shop.onChain.set(id, {
    balance: 3n * deposit,
    claimed: most,
    withdrawing: 0n,
  })
  const signing = { max: most, spoil: refund }
  const answer = await payBy(account, `${url}/tokens`, signing)
  expect(answer.status).toBe(200)
  const row = shop.rows.get(id)
  if (!row) throw new Error('no channel')
  shop.rows.set(id, { ...row, refundNonce: 1n })
  shop.onChain.set(id, {
    balance: 3n * deposit,
    claimed: most,
    withdrawing: 0n,
  })
  const again = await payBy(account, `${url}/tokens`, signing)
  expect(requiredBy(again).error).toBe(`${scheme}refund_amount_invalid`)
})
