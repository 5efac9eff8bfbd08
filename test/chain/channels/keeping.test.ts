import { createChannels } from 'countersign/channels'
import { memoryStore } from 'countersign/store'
import type { Hex } from 'viem'
import { mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  channelsContextOf,
  depositToChannel,
} from '../../../src/channels/engine.js'
import { chain, send, signVoucher } from '../support/channelDesk.js'
import {
  charge,
  gotBy,
  open,
  openDeposited,
  until,
  value,
  work,
} from '../support/keepingDesk.js'
import {
  channelOf,
  openMovementShop,
  signDeposit,
} from '../support/movementDesk.js'

afterAll(() => chain.stop())

test('a deposit is credited, charges are claimed together, and the rest is refunded', async () => {
  const opened = await open()
  const { channels, shop } = opened
  const channel = await openDeposited(opened)
  const { id: channelId } = channel
  const before = await gotBy(shop)
  for (const amount of [1_000n, 2_500n, 500n])
    await charge(opened, channel, amount)
  expect(await channels.get({ channelId })).toMatchObject({
    state: 'open',
    balance: value,
    charged: 4_000n,
    unclaimed: 4_000n,
  })
  expect(await channels.health()).toMatchObject({
    ok: true,
    destinations: [{ channels: 1, unclaimed: 4_000n }],
  })
  expect(await channels.claim()).toEqual({
    claimed: 1,
    pending: 0,
    rejected: 0,
  })
  expect((await gotBy(shop)) - before).toBe(4_000n)
  expect(await channels.get({ channelId })).toMatchObject({
    claimed: 4_000n,
    unclaimed: 0n,
    claimDue: undefined,
  })
  const refunded = await channels.refund({ channelId })
  expect(refunded).toMatchObject({ status: 'refunded', value: value - 4_000n })
  expect(await channels.get({ channelId })).toMatchObject({
    balance: 4_000n,
    reason: undefined,
  })
})

test('a withdrawal that was announced while no worker ran is claimed against', async () => {
  const store = memoryStore()
  const shop = await openMovementShop({ store })
  const opened = await work(shop, createChannels({ orders: shop.orders }))
  const channel = await openDeposited(opened)
  await charge(opened, channel, 9_000_000n)
  await opened.end()
  const args = [channel.config, value]
  const from = channel.payer
  await send({ functionName: 'initiateWithdraw', args, from })
  await mine(chain.clients.test, { blocks: 100 })
  const before = await gotBy(shop)
  await work(shop, createChannels({ orders: shop.orders }))
  await until(async () => (await gotBy(shop)) - before === 9_000_000n)
})

test('what one channel owes is claimed by amount and by age', async () => {
  const opened = await open({ claimAt: 5_000n, claimAfter: 0n })
  const { shop } = opened
  const channel = await openDeposited(opened)
  const before = await gotBy(shop)
  await charge(opened, channel, 10n)
  await until(async () => (await gotBy(shop)) - before === 10n)
  await charge(opened, channel, 6_000n)
  await until(async () => (await gotBy(shop)) - before === 6_010n)
})

test('a second deposit waits for the first, and the same one joins it', async () => {
  const opened = await open()
  const channel = await channelOf(opened.shop)
  const { id, config } = channel
  const first = await signDeposit(channel, value)
  const second = await signDeposit(channel, value)
  const terms = { id, config, chainId: 31337 }
  const one = depositToChannel(opened.inside, {
    ...terms,
    ...first,
    timeout: 60_000,
  })
  await until(async () => (await opened.inside.book.load(id)) !== undefined)
  const [same, other] = await Promise.all([
    depositToChannel(opened.inside, { ...terms, ...first, timeout: 60_000 }),
    depositToChannel(opened.inside, { ...terms, ...second, timeout: 60_000 }),
  ])
  expect((await one).status).toBe('credited')
  expect(same.status).toBe('credited')
  // It was refused, or came once the first was credited.
  expect(['busy', 'credited']).toContain(other.status)
  const deposits = other.status === 'busy' ? 1n : 2n
  const [{ balance } = { balance: 0n }] = (await opened.channels.list())
    .channels
  expect(balance).toBe(value * deposits)
})

test('two processes that charge one channel at once: one of them is told to look again', async () => {
  const store = memoryStore()
  const opened = await open({}, store)
  const channel = await openDeposited(opened)
  const other = createChannels({ orders: opened.shop.orders })
  const { book } = channelsContextOf(other)
  const seen = await book.load(channel.id)
  if (!seen) throw new Error('no channel')
  expect(await charge(opened, channel, 100n)).toMatchObject({ charged: 100n })
  const signature: Hex = await signVoucher(channel, 200n)
  const late = { channel: seen, value: 200n, maxClaimable: 200n, signature }
  expect(await book.charge(late)).toBeUndefined()
  expect(await book.load(channel.id)).toMatchObject({ charged: 100n })
})

test('a stopped channel takes no requests until it is resumed', async () => {
  const opened = await open()
  const { channels } = opened
  const channel = await openDeposited(opened)
  const { id: channelId } = channel
  expect(await channels.stop({ channelId })).toMatchObject({
    state: 'stopped',
    reason: 'merchant',
  })
  expect(await channels.resume({ channelId })).toMatchObject({ state: 'open' })
  const unknown: Hex = `0x${'12'.repeat(32)}`
  await expect(channels.get({ channelId: unknown })).rejects.toThrow(
    'has no channel',
  )
})
