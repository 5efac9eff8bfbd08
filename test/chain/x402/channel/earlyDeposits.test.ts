import { channels, createChannels } from 'countersign/channels'
import { startDevChain } from 'countersign/devchain'
import { createX402Gate, type X402ChannelOffer } from 'countersign/x402'
import type { PrivateKeyAccount } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { channelsContextOf } from '../../../../src/channels/engine.js'
import { type Signing, signChannel } from '../../support/channelPayer.js'
import { deposit, most } from '../../support/channelShop.js'
import { fundedAccount } from '../../support/desk.js'
import { openShop } from '../../support/shop.js'
import { settlementOf } from '../../support/x402Desk.js'

/** Blocks and pre-confirmations only on demand. */
const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  channels: true,
  token: 'usdc',
  blockTime: 0,
  tick: 0,
})
afterAll(() => chain.stop())
const { tick, seal, dropPending } = chain.preconfirmations

const sealAll = async () => {
  await tick()
  await seal()
}

/** Does a step again and again until the work is done. */
async function during<result>(
  work: Promise<result>,
  step: () => Promise<unknown>,
): Promise<result> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  while (!isDone) {
    await step()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return done
}

async function openEarly(
  offer: Partial<X402ChannelOffer> = {},
  mostAtRisk: { total: string; payer?: string } = { total: '10' },
) {
  const shop = await openShop(chain, {
    kinds: [channels()],
    policy: { mostAtRisk, pollingInterval: 50 },
  })
  const { orders } = shop
  // Each request looks at the chain.
  const kept = createChannels({ orders, policy: { copyFor: 0n } })
  let runs = 0
  const gate = createX402Gate({
    orders,
    channels: kept,
    offers: {
      tokens: {
        flow: 'channel',
        atMost: '0.01',
        deposit: '1.00',
        withdrawDelay: 900,
        answerAt: 'preconfirmed',
        preconfirmedUpTo: '1',
        ...offer,
      },
    },
  })
  const sold = gate.protect('tokens', () => {
    runs += 1
    return new Response('the goods')
  })
  const pay = async (
    account: PrivateKeyAccount,
    path: string,
    signing: Signing,
  ) => {
    const url = `https://shop.example/${path}`
    const header = await signChannel(
      account,
      await sold(new Request(url)),
      signing,
    )
    return sold(new Request(url, { headers: { 'PAYMENT-SIGNATURE': header } }))
  }
  const channelOf = async (payer: PrivateKeyAccount) =>
    (await kept.list({ payer: payer.address })).channels[0]
  return { ...shop, kept, pay, channelOf, runs: () => runs }
}

test('a deposit within the limits counts as soon as it is pre-confirmed, and stays so until a block has it', async () => {
  const shop = await openEarly()
  const account = await fundedAccount(chain, deposit)
  const first = await during(
    shop.pay(account, 'a', { max: most, deposit }),
    tick,
  )
  expect(first.status).toBe(200)
  expect(settlementOf(first)).toMatchObject({
    amount: '1000000',
    extra: { channelState: { balance: '1000000' } },
  })
  const second = await during(shop.pay(account, 'b', { max: 2n * most }), tick)
  expect(second.status).toBe(200)
  expect(await shop.channelOf(account)).toMatchObject({
    state: 'open',
    reason: 'preconfirmed',
    balance: deposit,
    charged: 2n * most,
  })
  expect((await shop.kept.health()).ok).toBe(true)
  await sealAll()
  const third = await during(shop.pay(account, 'c', { max: 3n * most }), tick)
  expect(third.status).toBe(200)
  expect(await shop.channelOf(account)).toMatchObject({
    state: 'open',
    reason: undefined,
    balance: deposit,
  })
})

test('the merchant refunds no deposit that no block has yet', async () => {
  const shop = await openEarly()
  const account = await fundedAccount(chain, deposit)
  await during(shop.pay(account, 'a', { max: most, deposit }), tick)
  const channelId = (await shop.channelOf(account))?.channelId ?? '0x'
  const refunding = shop.kept.refund({ channelId, timeout: 0 })
  expect(await during(refunding, tick)).toMatchObject({
    status: 'rejected',
    reason: 'nothingLeft',
    channel: { state: 'open', reason: 'preconfirmed' },
  })
  await sealAll()
  const again = shop.kept.refund({ channelId })
  expect(await during(again, sealAll)).toMatchObject({
    status: 'refunded',
    value: deposit - most,
  })
})

test('an early deposit does not hide that an earlier one was undone', async () => {
  const shop = await openEarly()
  const account = await fundedAccount(chain, deposit)
  await during(shop.pay(account, 'a', { max: most, deposit }), tick)
  const channelId = (await shop.channelOf(account))?.channelId ?? '0x'
  // As if a reorganization had taken an earlier deposit of the same size.
  await channelsContextOf(shop.kept).book.change(channelId, (row) => ({
    ...row,
    balance: 2n * deposit,
  }))
  await during(shop.pay(account, 'b', { max: 2n * most }), tick)
  expect(await shop.channelOf(account)).toMatchObject({
    reason: 'preconfirmed',
    balance: deposit,
    charged: 2n * most,
  })
})

test.each([
  ['of the offer', { mostAtRisk: '0.9' }, { total: '10' }],
  ['of all', {}, { total: '0.9' }],
  ['of the payer', {}, { total: '10', payer: '0.9' }],
  ['of the deposit', { preconfirmedUpTo: '0.9' }, { total: '10' }],
  [
    'of offers that say nothing',
    { answerAt: undefined, preconfirmedUpTo: undefined },
    { total: '10' },
  ],
])('above the limit %s, a deposit waits for a block', async (_, offer, all) => {
  const shop = await openEarly(offer, all)
  const account = await fundedAccount(chain, deposit)
  const answered = shop.pay(account, 'a', { max: most, deposit })
  const sent = async () => {
    for (;;) {
      const { events } = await shop.orders.events({ limit: 100 })
      if (events.some(({ data }) => Object(data).state === 'sent')) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await during(sent(), tick)
  for (let count = 0; count < 5; count++)
    await during(new Promise((resolve) => setTimeout(resolve, 50)), tick)
  expect(shop.runs()).toBe(0)
  expect((await during(answered, sealAll)).status).toBe(200)
})

test('a deposit that is dropped after its pre-confirmation stops the channel, and health names it', async () => {
  const shop = await openEarly()
  const account = await fundedAccount(chain, deposit)
  const first = await during(
    shop.pay(account, 'a', { max: most, deposit }),
    tick,
  )
  expect(first.status).toBe(200)
  await dropPending()
  await chain.block({ account: account.address })
  const stop = new AbortController()
  const { signal } = stop
  const running = Promise.all([
    shop.orders.run({ signal }),
    shop.kept.run({ signal }),
  ])
  const told = async () => {
    for (;;) {
      const [at] = (await shop.kept.health()).destinations
      if (at?.uncovered.length) return at.uncovered
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const uncovered = await during(told(), sealAll)
  const stopped = await shop.channelOf(account)
  expect(uncovered).toEqual([stopped?.channelId])
  expect(stopped).toMatchObject({
    state: 'stopped',
    reason: 'uncovered',
    balance: 0n,
    charged: most,
  })
  const next = await during(shop.pay(account, 'b', { max: 2n * most }), sealAll)
  expect(next.status).toBe(402)
  expect(shop.runs()).toBe(1)
  stop.abort()
  await during(running, sealAll)
})
