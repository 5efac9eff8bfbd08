import { expect, test, vi } from 'vitest'
import { channelOf, channelOfferOf } from '../../support/channelPayer.js'
import { fundedAccount } from '../../support/desk.js'
import {
  deposit,
  most,
  openedChannel,
  openMockShop,
  payBy,
} from '../../support/mockChannelShop.js'
import { chain, requiredBy, settlementOf } from '../../support/x402Desk.js'

const handler = vi.fn(() => Response.json({}))
const shop = await openMockShop(handler)
const { url, desk } = shop
const scheme = 'invalid_batch_settlement_evm_'

const idOf = async (payer: { address: `0x${string}` }) =>
  channelOf(payer.address, channelOfferOf(await fetch(`${url}/tokens`))).id

test('a channel whose balance is used is topped up', async () => {
  const account = await openedChannel(url)
  const id = await idOf(account)
  shop.onChain.set(id, { balance: most, claimed: 0n, withdrawing: 0n })
  await shop.copy(id)
  const short = await payBy(account, `${url}/tokens`, { max: 2n * most })
  expect(short.status).toBe(402)
  expect(requiredBy(short).error).toBe(`${scheme}cumulative_amount_mismatch`)
  const next = await payBy(account, `${url}/tokens`, {
    max: 2n * most,
    deposit,
  })
  expect(next.status).toBe(200)
  expect(settlementOf(next)).toMatchObject({
    amount: '1000000',
    extra: {
      chargedAmount: '10000',
      channelState: { balance: '1010000', chargedCumulativeAmount: '20000' },
    },
  })
})

test('no second deposit is sent for a channel that has enough', async () => {
  const account = await openedChannel(url)
  vi.mocked(desk.deposit).mockClear()
  handler.mockClear()
  const second = await payBy(account, `${url}/tokens?other`, {
    max: 2n * most,
    deposit,
  })
  expect(second.status).toBe(402)
  expect(requiredBy(second).error).toBe(`${scheme}cumulative_amount_mismatch`)
  expect(desk.deposit).not.toHaveBeenCalled()
  expect(handler).not.toHaveBeenCalled()
})

test('a deposit that is not decided is kept, and the client tries again', async () => {
  const account = await fundedAccount(chain, deposit)
  vi.mocked(desk.deposit).mockResolvedValueOnce({
    ok: false,
    reason: 'inFlight',
  })
  handler.mockClear()
  const answer = await payBy(account, `${url}/tokens`, { max: most, deposit })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('1')
  expect(answer.headers.get('payment-required')).toBeNull()
  expect(handler).not.toHaveBeenCalled()
})

test('a deposit that the token refuses runs no handler', async () => {
  const account = await fundedAccount(chain, deposit)
  vi.mocked(desk.deposit).mockResolvedValueOnce({
    ok: false,
    reason: 'rejected',
  })
  handler.mockClear()
  const answer = await payBy(account, `${url}/tokens`, { max: most, deposit })
  expect(answer.status).toBe(402)
  expect(requiredBy(answer).error).toBe(`${scheme}deposit_transaction_failed`)
  expect(handler).not.toHaveBeenCalled()
})

test('a channel that is on chain and not on record goes on from what was claimed', async () => {
  const account = await openedChannel(url)
  const id = await idOf(account)
  shop.rows.delete(id)
  shop.onChain.set(id, { balance: deposit, claimed: most, withdrawing: 0n })
  const answer = await payBy(account, `${url}/tokens?after`, { max: 2n * most })
  expect(answer.status).toBe(200)
  shop.rows.delete(id)
  const claim = await payBy(account, `${url}/tokens?more`, { max: 9n * most })
  expect(claim.status).toBe(402)
  expect(channelOfferOf(claim).extra).toMatchObject({
    channelState: { chargedCumulativeAmount: '10000', totalClaimed: '10000' },
  })
  expect(channelOfferOf(claim).extra).not.toHaveProperty('voucherState')
})
