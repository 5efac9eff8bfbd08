import { expect, test, vi } from 'vitest'
import { StoreError } from '../../../../src/store/errors.js'
import { channelOf, channelOfferOf } from '../../support/channelPayer.js'
import { fundedAccount } from '../../support/desk.js'
import {
  deposit,
  most,
  openedChannel,
  openMockShop,
  payBy,
  sendHeader,
} from '../../support/mockChannelShop.js'
import { chain, requiredBy, settlementOf } from '../../support/x402Desk.js'

let runs = 0
let held: Promise<void> | undefined
const shop = await openMockShop(async (request) => {
  runs += 1
  await held
  return Response.json({ runs, body: await request.text() })
})
const { url, desk } = shop
const scheme = 'invalid_batch_settlement_evm_'

const idOf = async (payer: { address: `0x${string}` }) =>
  channelOf(payer.address, channelOfferOf(await fetch(`${url}/tokens`))).id

test('the same request with the same voucher gets the same answer, and is charged once', async () => {
  const account = await openedChannel(url)
  const first = await payBy(account, `${url}/tokens?a`, { max: 2n * most })
  const before = runs
  const again = await sendHeader(`${url}/tokens?a`, first.header)
  expect(again.status).toBe(200)
  expect(await again.text()).toBe(await first.text())
  expect(settlementOf(again)).toEqual(settlementOf(first))
  expect(runs).toBe(before)
  expect(shop.rows.get(await idOf(account))?.charged).toBe(2n * most)
})

test('a lost answer to a deposit is answered again, though the client signs another deposit', async () => {
  const account = await fundedAccount(chain, 2n * deposit)
  const asked = `${url}/tokens?opening`
  const first = await payBy(account, asked, { max: most, deposit })
  const before = runs
  vi.mocked(desk.deposit).mockClear()
  const again = await payBy(account, asked, { max: most, deposit })
  expect(settlementOf(again)).toEqual(settlementOf(first))
  expect(runs).toBe(before)
  expect(desk.deposit).not.toHaveBeenCalled()
})

test.each([
  ['another query', '?other', undefined],
  ['another method', '?a', { method: 'POST' }],
  ['another body', '?a', { method: 'POST', body: 'other' }],
])(
  'the same voucher with %s gets no answer, but the state of the channel',
  async (_, query, init) => {
    const account = await openedChannel(url)
    const first = await payBy(account, `${url}/tokens?a`, { max: 2n * most })
    const before = runs
    const other = await sendHeader(`${url}/tokens${query}`, first.header, init)
    expect(other.status).toBe(402)
    expect(other.headers.get('payment-response')).toBeNull()
    expect(runs).toBe(before)
    expect(requiredBy(other)).toMatchObject({
      error: `${scheme}cumulative_amount_mismatch`,
      accepts: [
        {
          scheme: 'batch-settlement',
          extra: {
            channelState: {
              channelId: await idOf(account),
              balance: '1000000',
              totalClaimed: '0',
              withdrawRequestedAt: 0,
              refundNonce: '0',
              chargedCumulativeAmount: '20000',
            },
            voucherState: {
              signedMaxClaimable: '20000',
              signature: shop.rows.get(await idOf(account))?.voucher,
            },
          },
        },
      ],
    })
  },
)

test('five at once with one voucher for one request are one run', async () => {
  const account = await openedChannel(url)
  const before = runs
  const lost = await payBy(account, `${url}/tokens?lost`, {
    max: 2n * most,
    spoil: (payload) => ({ ...payload, type: 'none' }),
  })
  expect(lost.status).toBe(402)
  let release = () => {}
  held = new Promise((resolve) => {
    release = resolve
  })
  const first = payBy(account, `${url}/tokens?five`, { max: 2n * most })
  await vi.waitFor(() => expect(runs).toBe(before + 1))
  const others = Array.from({ length: 4 }, () =>
    payBy(account, `${url}/tokens?five`, { max: 2n * most }),
  )
  release()
  held = undefined
  const answers = await Promise.all([first, ...others])
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
  expect(
    new Set(await Promise.all(answers.map((one) => one.text()))).size,
  ).toBe(1)
  expect(runs).toBe(before + 1)
  expect(shop.rows.get(await idOf(account))?.charged).toBe(2n * most)
})

test('other requests at once with one voucher wait, then one is paid for', async () => {
  const account = await openedChannel(url)
  const before = runs
  const answers = await Promise.all(
    ['x', 'y', 'z'].map((query) =>
      payBy(account, `${url}/tokens?${query}`, { max: 2n * most }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402])
  expect(runs).toBe(before + 1)
})

test('a charge that another process made first is judged again', async () => {
  const account = await openedChannel(url)
  const id = await idOf(account)
  const { charge } = desk
  // The chain was copied meanwhile: the voucher still pays.
  vi.mocked(desk.charge).mockImplementationOnce(async () => {
    await shop.copy(id)
    return undefined
  })
  const answer = await payBy(account, `${url}/tokens?copied`, {
    max: 2n * most,
  })
  expect(answer.status).toBe(200)
  // The voucher was used for something else meanwhile.
  vi.mocked(desk.charge).mockImplementationOnce(async (given) => {
    const { note: _, ...other } = given
    await charge(other)
    return undefined
  })
  const second = await payBy(account, `${url}/tokens?taken`, { max: 3n * most })
  expect(second.status).toBe(402)
  expect(shop.rows.get(id)?.charged).toBe(3n * most)
})

test('a charge whose commit is not known is written once', async () => {
  const account = await openedChannel(url)
  const { charge } = desk
  vi.mocked(desk.charge).mockImplementationOnce(async (given) => {
    await charge(given)
    throw new StoreError('lost the connection', true)
  })
  const before = runs
  const answer = await payBy(account, `${url}/tokens?commit`, {
    max: 2n * most,
  })
  expect(answer.status).toBe(200)
  expect(runs).toBe(before + 1)
  expect(shop.rows.get(await idOf(account))?.charged).toBe(2n * most)
})

test('a stream is charged before its first byte, and not answered twice', async () => {
  const account = await openedChannel(url)
  const first = await payBy(account, `${url}/stream?s`, { max: 2n * most })
  expect(first.status).toBe(200)
  expect(settlementOf(first).extra.chargedAmount).toBe('10000')
  const again = await sendHeader(`${url}/stream?s`, first.header)
  expect(again.status).toBe(409)
  expect(settlementOf(again)).toEqual(settlementOf(first))
})

test('a handler that never answers holds up other requests only for a while', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let begun = () => {}
  const isRunning = new Promise<void>((resolve) => {
    begun = resolve
  })
  const slow = await openMockShop(
    async (request) => {
      if (new URL(request.url).searchParams.has('hang')) {
        begun()
        await held
      }
      return Response.json({})
    },
    { timeout: 100 },
  )
  const account = await openedChannel(slow.url)
  const hanging = payBy(account, `${slow.url}/tokens?hang`, { max: 2n * most })
  await isRunning
  const other = await payBy(account, `${slow.url}/tokens?b`, { max: 2n * most })
  expect(other.status).toBe(503)
  expect(other.headers.get('retry-after')).toBe('1')
  release()
  expect((await hanging).status).toBe(200)
})
