import { createChannels } from 'countersign/channels'
import { type Client, createClient, custom, type Hex, pad, toHex } from 'viem'
import { getBlockNumber, mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { channelTopics } from '../../../src/channels/contract/decodeChannelLog.js'
import {
  adoptChannel,
  channelsContextOf,
} from '../../../src/channels/engine.js'
import {
  lookAtChannels,
  openMemory,
} from '../../../src/channels/verbs/lookAtChannels.js'
import { groupByClient } from '../../../src/orders/engine.js'
import { chain, channelContract } from '../support/channelDesk.js'
import { openDeposited, until, work } from '../support/keepingDesk.js'
import {
  depositedChannel,
  openChannels,
  openMovementShop,
} from '../support/movementDesk.js'
import { setOrder } from '../support/shop.js'

afterAll(() => chain.stop())

type Ask = { method: string; params?: unknown }

/** A client of the chain whose answers can be changed on the way. */
const clientOf = (
  answer: (ask: Ask, pass: () => Promise<unknown>) => Promise<unknown>,
): Client =>
  createClient({
    chain: chain.chain,
    transport: custom({
      request: (ask: Ask) =>
        answer(ask, () => chain.clients.public.request(ask as never)),
    }),
  })

/** The log of a withdrawal in a block that is not made. */
const pendingWithdrawal = async (id: Hex) => ({
  address: channelContract.toLowerCase(),
  topics: [channelTopics.withdrawInitiated, id],
  data: `${pad(toHex(5n))}${toHex(2n ** 39n, { size: 32 }).slice(2)}`,
  blockNumber: toHex((await getBlockNumber(chain.clients.public)) + 1_000n),
  blockHash: null,
  transactionHash: id,
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
})

test('a channel serves again by itself once an announced withdrawal is gone that no block has', async () => {
  let announced: Hex | undefined
  const client = clientOf(async ({ method, params }, pass) => {
    const [filter] = [params].flat()
    const isPending = Object(filter).fromBlock === 'pending'
    return method === 'eth_getLogs' && isPending && announced
      ? [await pendingWithdrawal(announced)]
      : pass()
  })
  const shop = await openMovementShop({ changes: { client } })
  const channels = createChannels({ orders: shop.orders })
  const opened = await work(shop, channels)
  const { id: channelId } = await openDeposited(opened)
  announced = channelId
  const getReason = async () => (await channels.get({ channelId })).reason
  await until(async () => (await getReason()) === 'withdrawal')
  // Looks at blocks that do not have it yet leave the channel stopped.
  const first = await getBlockNumber(chain.clients.public)
  await until(async () => {
    expect(await getReason()).toBe('withdrawal')
    return (await getBlockNumber(chain.clients.public)) > first + 5n
  })
  announced = undefined
  await until(async () => (await channels.get({ channelId })).state === 'open')
})

test('channels whose deposits are not final cost no request until one takes a step', async () => {
  let calls = 0
  const client = clientOf(({ method }, pass) => {
    if (method === 'eth_call') calls++
    return pass()
  })
  const shop = await openMovementShop({ changes: { client } })
  const deposited = await depositedChannel(shop)
  const channels = createChannels({ orders: shop.orders })
  const inside = channelsContextOf(channels)
  const fresh = [deposited, ...(await openChannels(shop, 50))]
  const [row] = await shop.context.store.read(({ events }) =>
    events.find({
      destinations: shop.context.destinations,
      after: 0n,
      limit: 9,
    }),
  )
  const depositId = String(Object(row?.data).movementId)
  for (const { id, config } of fresh) {
    await adoptChannel(inside, { id, chainId: 31337, config })
    await inside.book.change(id, (channel) => ({ ...channel, depositId }))
  }
  const [group] = groupByClient(shop.context)
  if (!group) throw new Error('no client')
  const memory = openMemory()
  const countMinute = async () => {
    const before = calls
    for (let passes = 0; passes < 60; passes++) {
      if (passes % 2) await mine(chain.clients.test, { blocks: 1 })
      await lookAtChannels(inside, group, memory)
    }
    return calls - before
  }
  // Two requests for 51 channels at the first pass, and none after it.
  expect(await countMinute()).toBe(2)
  expect(await countMinute()).toBe(0)
  await setOrder(shop, depositId, { finality: 'finalized' })
  // At their finality, two more.
  expect(await countMinute()).toBe(2)
  expect(await countMinute()).toBe(0)
})
