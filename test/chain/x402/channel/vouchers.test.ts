import type { X402Payment } from 'countersign/x402'
import type { Address } from 'viem'
import { expect, test } from 'vitest'
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

const owing = {
  flow: 'channel',
  atMost: '0.01',
  deposit: '1.00',
  withdrawDelay: 900,
  mostUnclaimed: '0.02',
} as const

const runs: X402Payment[] = []
const shop = await openMockShop(
  async (request, payment) => {
    runs.push(payment)
    const { searchParams } = new URL(request.url)
    const costs = searchParams.get('costs')
    if (costs !== null) payment.charge?.(costs)
    if (searchParams.has('fail')) return new Response('no', { status: 418 })
    return Response.json({ run: runs.length })
  },
  { offers: { owing } },
)
const { url } = shop

const rowOf = async (payer: Address) => {
  const offer = channelOfferOf(await fetch(`${url}/tokens`))
  return shop.rows.get(channelOf(payer, offer).id)
}

test('a 402 offers a channel with the terms that stock clients need', async () => {
  const { accepts } = requiredBy(await fetch(`${url}/both`))
  expect(accepts).toEqual([
    expect.objectContaining({ scheme: 'exact' }),
    {
      scheme: 'batch-settlement',
      network: 'eip155:31337',
      amount: '10000',
      asset: expect.stringMatching(/^0x/),
      payTo: expect.stringMatching(/^0x/),
      maxTimeoutSeconds: 300,
      extra: {
        name: 'USD Coin',
        version: '2',
        receiverAuthorizer: expect.stringMatching(/^0x/),
        withdrawDelay: 900,
        minDeposit: '1000000',
      },
    },
  ])
})

test('a deposit and two vouchers pay for three requests', async () => {
  const account = await fundedAccount(chain, deposit)
  const first = await payBy(account, `${url}/tokens`, { max: most, deposit })
  expect(first.status).toBe(200)
  const { id } = channelOf(
    account.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  expect(settlementOf(first)).toEqual({
    success: true,
    payer: account.address.toLowerCase(),
    transaction: expect.stringMatching(/^0x[\da-f]{64}$/),
    network: 'eip155:31337',
    amount: '1000000',
    extra: {
      channelState: {
        channelId: id,
        balance: '1000000',
        totalClaimed: '0',
        withdrawRequestedAt: 0,
        refundNonce: '0',
        chargedCumulativeAmount: '10000',
      },
      chargedAmount: '10000',
    },
  })
  const second = await payBy(account, `${url}/tokens?costs=0.0023`, {
    max: 2n * most,
  })
  expect(settlementOf(second)).toMatchObject({
    transaction: '',
    amount: '',
    extra: {
      chargedAmount: '2300',
      channelState: { chargedCumulativeAmount: '12300' },
    },
  })
  expect(runs.at(-1)).toMatchObject({ channelId: id, amount: '0.01' })
  const third = await payBy(account, `${url}/tokens`, { max: 12_300n + most })
  expect(third.status).toBe(200)
  expect(third.headers.get('cache-control')).toBe('private, no-store')
  expect(await rowOf(account.address)).toMatchObject({
    charged: 22_300n,
    signed: 22_300n,
  })
})

test.each(['0.0101', '-1', '1e3', '50%', '$0.001', 'abc', ''])(
  'a handler that charges "%s" fails, and nothing is charged',
  async (costs) => {
    const account = await openedChannel(url)
    const query = new URLSearchParams({ costs })
    const answer = await payBy(account, `${url}/tokens?${query}`, {
      max: 2n * most,
    })
    expect(answer.status).toBe(500)
    expect(answer.headers.get('payment-response')).toBeNull()
    expect(await rowOf(account.address)).toMatchObject({ charged: most })
  },
)

test('a handler that fails is not charged, and the voucher pays for the next request', async () => {
  const account = await openedChannel(url)
  const failed = await payBy(account, `${url}/tokens?fail`, { max: 2n * most })
  expect(failed.status).toBe(418)
  expect(failed.headers.get('payment-response')).toBeNull()
  const next = await sendHeader(`${url}/tokens`, failed.header)
  expect(next.status).toBe(200)
  expect(await rowOf(account.address)).toMatchObject({ charged: 2n * most })
})

test('a handler that fails after a deposit tells the client of the deposit', async () => {
  const account = await fundedAccount(chain, deposit)
  const failed = await payBy(account, `${url}/tokens?fail`, {
    max: most,
    deposit,
  })
  expect(failed.status).toBe(418)
  expect(settlementOf(failed)).toMatchObject({
    success: true,
    amount: '1000000',
    extra: {
      chargedAmount: '0',
      channelState: { chargedCumulativeAmount: '0', balance: '1000000' },
    },
  })
})

test('a request that costs nothing is not answered from what was kept', async () => {
  const account = await openedChannel(url)
  const one = await payBy(account, `${url}/tokens?costs=0`, { max: 2n * most })
  expect(settlementOf(one).extra).toMatchObject({
    chargedAmount: '0',
    channelState: { chargedCumulativeAmount: '10000' },
  })
  const other = await sendHeader(`${url}/tokens?costs=0`, one.header)
  expect(await other.json()).not.toEqual(await one.json())
})

test('one 402 has the exact offer beside the one over channels', async () => {
  const { accepts } = requiredBy(await fetch(`${url}/both`))
  expect(accepts[0]).toMatchObject({ scheme: 'exact', amount: '10000' })
})

test('a channel may owe what its offer allows, until it is claimed', async () => {
  const account = await openedChannel(url)
  const pay = (max: bigint) => payBy(account, `${url}/owing`, { max })
  expect((await pay(2n * most)).status).toBe(200)
  const other = await payBy(account, `${url}/owing?b`, { max: 3n * most })
  expect(other.status).toBe(503)
  const { id } = channelOf(
    account.address,
    channelOfferOf(await fetch(`${url}/tokens`)),
  )
  shop.onChain.set(id, { balance: deposit, claimed: most, withdrawing: 0n })
  await shop.copy(id)
  const next = await payBy(account, `${url}/owing?b`, { max: 3n * most })
  expect(next.status).toBe(200)
})

test.each([
  ['policy', '0.04', 3n * most],
  ['offer', '0.03', 4n * most],
] as const)(
  'the lower limit of what a channel may owe is that of the %s',
  async (_, mostUnclaimed, ofPolicy) => {
    const lower = await openMockShop(() => Response.json({}), {
      offers: { tokens: { ...owing, mostUnclaimed } },
    })
    lower.desk.mostUnclaimed = ofPolicy
    const account = await openedChannel(lower.url)
    const statuses: number[] = []
    for (const count of [2n, 3n, 4n]) {
      const asked = `${lower.url}/tokens?${count}`
      statuses.push((await payBy(account, asked, { max: count * most })).status)
    }
    expect(statuses).toEqual([200, 200, 503])
  },
)
