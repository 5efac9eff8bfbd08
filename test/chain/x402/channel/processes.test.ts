import {
  finalizeWithdrawCall,
  initiateWithdrawCall,
  parseChannelConfig,
} from 'countersign/channels'
import {
  memoryStore,
  type PaymentStore,
  type StoreReader,
} from 'countersign/store'
import { createWalletClient, type Hex, http } from 'viem'
import { sendTransaction } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  channelsContextOf,
  depositToChannel,
} from '../../../../src/channels/engine.js'
import {
  channelOf,
  channelOfferOf,
  signedDeposit,
} from '../../support/channelPayer.js'
import {
  type ChannelShop,
  deposit,
  most,
  openChannelShop,
  stockPayer,
} from '../../support/channelShop.js'
import { fundedAccount } from '../../support/desk.js'
import { payBy, sendHeader } from '../../support/mockChannelShop.js'
import {
  balanceOf,
  chain,
  requiredBy,
  settlementOf,
} from '../../support/x402Desk.js'

/** Two processes of one shop, as far as they share nothing but the store. */
async function openTwo(
  options: Parameters<typeof openChannelShop>[1] = {
    policy: { copyFor: 0n },
  },
  store: PaymentStore = memoryStore(),
) {
  const sellers = [await fundedAccount(chain)]
  let runs = 0
  const handler = async () => Response.json({ runs: ++runs })
  const given = { store, sellers, ...options }
  const one = await openChannelShop(handler, given)
  const other = await openChannelShop(handler, given)
  return { one, other, runs: () => runs }
}

test('what one process answered, the other repeats, and goes on from', async () => {
  const { one, other, runs } = await openTwo()
  const account = await fundedAccount(chain, deposit)
  const first = await payBy(account, `${one.url}/a`, { max: most, deposit })
  expect(first.status).toBe(200)
  // Both are reached under one name, as behind a load balancer.
  const second = await payBy(account, `${other.url}/b`, { max: 2n * most })
  expect(second.status).toBe(200)
  const again = await sendHeader(`${other.url}/b`, second.header)
  expect(settlementOf(again)).toEqual(settlementOf(second))
  const third = await payBy(account, `${one.url}/c`, { max: 3n * most })
  expect(third.status).toBe(200)
  expect(runs()).toBe(3)
})

test('a channel that is stopped for a refund has the refund on record at once', async () => {
  const store = memoryStore()
  const states: string[] = []
  let id: Hex | undefined
  const watched: PaymentStore = {
    ...store,
    write: async (work, options) => {
      const result = await store.write(work, options)
      if (id) states.push(await store.read(findRefund(id)))
      return result
    },
  }
  const { one } = await openTwo({}, watched)
  const account = await fundedAccount(chain, deposit)
  await payBy(account, `${one.url}/a`, { max: most, deposit })
  const [channel] = (await one.channels.list()).channels
  if (!channel) throw new Error('no channel')
  const { channelId } = channel
  id = channelId
  const made = await one.channels.refund({ channelId })
  expect(made.status).toBe('refunded')
  expect(states).toContain('stopped with refund')
  expect(states).not.toContain('stopped without refund')
})

const findRefund =
  (id: Hex) =>
  async ({ channels, orders }: StoreReader) => {
    const [channel] = await channels.find({ ids: [id] })
    if (channel?.reason !== 'refund') return 'open'
    const refund = `${id}-${channel.refundNonce}`
    const [found] = await orders.find({ ids: [refund] })
    return found ? 'stopped with refund' : 'stopped without refund'
  }

test('a voucher that is used at two processes at once is charged once', async () => {
  const { one, other } = await openTwo()
  const account = await fundedAccount(chain, deposit)
  await payBy(account, `${one.url}/first`, { max: most, deposit })
  for (let round = 2n; round < 7n; round++) {
    const answers = await Promise.all(
      [one, other].map(({ url }) =>
        payBy(account, `${url}/${round}`, { max: round * most }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 402])
  }
  const [channel] = (await one.channels.list()).channels
  expect(channel).toMatchObject({ charged: 6n * most, balance: deposit })
})

test('two deposits for one channel at two processes at once are one', async () => {
  const { one, other } = await openTwo()
  for (let round = 0; round < 10; round++) {
    const account = await fundedAccount(chain, 2n * deposit)
    const answers = await Promise.all(
      [one, other].map(({ url }) =>
        payBy(account, `${url}/first`, { max: most, deposit }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(200)
    expect([402, 503]).toContain(statuses[1])
    const payer = account.address
    const [channel] = (await one.channels.list({ payer })).channels
    expect(channel).toMatchObject({ charged: most, balance: deposit })
  }
})

test('of two deposits that two processes judged at once, one is made', async () => {
  const { one, other } = await openTwo()
  const account = await fundedAccount(chain, 2n * deposit)
  const response = await fetch(one.url)
  const { id, chainId, ...named } = channelOf(
    account.address,
    channelOfferOf(response),
  )
  const config = parseChannelConfig(named.config)
  const make = async ({ channels }: ChannelShop) => {
    const { payment, salt } = await signedDeposit(account, response, deposit)
    const wanted = { id, chainId, config, payment, salt, version: 0 }
    const inside = channelsContextOf(channels)
    return depositToChannel(inside, { ...wanted, timeout: 30_000 })
  }
  const made = await Promise.all([make(one), make(other)])
  const statuses = made.map(({ status }) => status).sort()
  expect(statuses).toEqual(['busy', 'credited'])
  expect(await balanceOf(account.address)).toBe(deposit)
})

// Last in this file: it moves the clock of the chain.
test('a payer who withdraws is served up to what the withdrawal leaves, and that can be claimed after it', async () => {
  const { one } = await openTwo()
  const { account, fetch: pay } = await stockPayer()
  expect((await pay(`${one.url}/a`)).status).toBe(200)
  const offer = channelOfferOf(await fetch(one.url))
  const { config } = channelOf(account.address, offer)
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  const value = deposit - 3n * most
  await sendTransaction(wallet, initiateWithdrawCall({ config, value }))
  expect((await pay(`${one.url}/b`)).status).toBe(200)
  expect((await pay(`${one.url}/c`)).status).toBe(200)
  const answer = await pay(`${one.url}/d`)
  expect(answer.status).toBe(402)
  expect(requiredBy(answer).error).toBe(
    'invalid_batch_settlement_evm_cumulative_exceeds_balance',
  )
  expect((await one.channels.health()).ok).toBe(true)
  await chain.clients.test.increaseTime({ seconds: 901 })
  await sendTransaction(wallet, finalizeWithdrawCall({ config }))
  await one.channels.claim()
  expect(await balanceOf(one.seller)).toBe(3n * most)
})
