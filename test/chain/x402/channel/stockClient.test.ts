import { getTransactionCount } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  deposit,
  most,
  openChannelShop,
  stockChannel,
  stockPayer,
} from '../../support/channelShop.js'
import { balanceOf, chain, settlementOf } from '../../support/x402Desk.js'

let runs = 0
const shop = await openChannelShop((request, payment) => {
  runs += 1
  const costs = new URL(request.url).searchParams.get('costs')
  if (costs !== null) payment.charge?.(costs)
  return Response.json({ runs })
})
const { url, channels } = shop

test('the stock client pays for fifty requests with one deposit', async () => {
  const { account, fetch } = await stockPayer()
  const before = await getTransactionCount(chain.clients.public, {
    address: shop.seller,
  })
  const answers: number[] = []
  for (let count = 0; count < 50; count++)
    answers.push((await fetch(`${url}/?${count}`)).status)
  expect(answers).toEqual(Array(50).fill(200))
  expect(await balanceOf(account.address)).toBe(0n)
  const [channel] = (await channels.list()).channels
  expect(channel).toMatchObject({
    payer: account.address.toLowerCase(),
    balance: deposit,
    charged: 50n * most,
  })
  const after = await getTransactionCount(chain.clients.public, {
    address: shop.seller,
  })
  expect(after - before).toBe(1)
})

test('the stock client pays what the handler charges, and tops up', async () => {
  const { account, fetch } = await stockPayer(2n)
  for (let count = 0; count < 3; count++)
    await fetch(`${url}/?costs=0.0023&${count}`)
  const [channel] = (await channels.list({ payer: account.address })).channels
  expect(channel).toMatchObject({ charged: 6_900n })
  for (let count = 0; count < 100; count++) {
    const answer = await fetch(`${url}/?top&${count}`)
    expect(answer.status).toBe(200)
  }
  const [topped] = (await channels.list({ payer: account.address })).channels
  expect(topped).toMatchObject({ balance: 2n * deposit, charged: 1_006_900n })
})

test('a stock client that lost its state is put in step, without a second deposit', async () => {
  const { account, fetch } = await stockPayer(2n)
  for (let count = 0; count < 3; count++) await fetch(`${url}/?a${count}`)
  const fresh = stockChannel(account)
  for (let count = 0; count < 3; count++) {
    const answer = await fresh.fetch(`${url}/?b${count}`)
    expect(answer.status).toBe(200)
  }
  const [channel] = (await channels.list({ payer: account.address })).channels
  expect(channel).toMatchObject({ balance: deposit, charged: 6n * most })
})

test('five requests at once of one stock client: two are served, and nothing is charged for the rest', async () => {
  const { account, fetch } = await stockPayer()
  await fetch(`${url}/?first`)
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((query) => fetch(`${url}/?${query}`)),
  )
  const served = answers.filter(({ status }) => status === 200).length
  expect(served).toBeGreaterThanOrEqual(2)
  const [channel] = (await channels.list({ payer: account.address })).channels
  expect(channel).toMatchObject({ charged: BigInt(served + 1) * most })
})

test('the stock client gets back what is left, and opens its channel again', async () => {
  const { account, fetch, scheme } = await stockPayer(2n)
  await fetch(`${url}/?one`)
  await fetch(`${url}/?two`)
  const settled = await scheme.refund(`${url}/`)
  expect(settled).toMatchObject({ success: true, amount: '980000' })
  expect(await balanceOf(account.address)).toBe(2n * deposit - 2n * most)
  expect(await balanceOf(shop.seller)).toBeGreaterThanOrEqual(2n * most)
  const [channel] = (await channels.list({ payer: account.address })).channels
  expect(channel).toMatchObject({ balance: 2n * most, claimed: 2n * most })
})

test('after a refund by the merchant, the stock client deposits again', async () => {
  const { account, fetch } = await stockPayer(2n)
  await fetch(`${url}/?one`)
  const [channel] = (await channels.list({ payer: account.address })).channels
  if (!channel) throw new Error('no channel')
  await channels.refund({ channelId: channel.channelId })
  const answer = await fetch(`${url}/?two`)
  expect(answer.status).toBe(200)
  expect(settlementOf(answer)).toMatchObject({ amount: '1000000' })
})

test('a channel that the merchant stopped stays stopped after its payer got the rest back', async () => {
  const { account, fetch, scheme } = await stockPayer(2n)
  await fetch(`${url}/?one`)
  const of = async () =>
    (await channels.list({ payer: account.address })).channels[0]
  const channelId = (await of())?.channelId ?? '0x'
  await channels.stop({ channelId })
  expect((await of())?.reason).toBe('merchant')
  const settled = await scheme.refund(`${url}/`)
  expect(settled).toMatchObject({ success: true, amount: '990000' })
  expect(await of()).toMatchObject({ state: 'stopped', reason: 'merchant' })
  const answer = await fetch(`${url}/?two`)
  expect(answer.status).toBe(402)
})

test('on a chain with a block time, a refund waits until its claim is made', async () => {
  const { account, fetch, scheme } = await stockPayer()
  await fetch(`${url}/?one`)
  const { test: node } = chain.clients
  await node.setAutomine(false)
  await node.setIntervalMining({ interval: 1 })
  try {
    const settled = await scheme.refund(`${url}/`)
    expect(settled).toMatchObject({ success: true, amount: '990000' })
  } finally {
    await node.setIntervalMining({ interval: 0 })
    await node.setAutomine(true)
  }
  expect(await balanceOf(account.address)).toBe(deposit - most)
})
