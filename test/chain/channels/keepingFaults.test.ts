import { createChannels } from 'countersign/channels'
import { memoryStore } from 'countersign/store'
import { createClient, custom } from 'viem'
import { increaseTime, mine } from 'viem/actions'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { chain, send } from '../support/channelDesk.js'
import { newAccount } from '../support/desk.js'
import {
  charge,
  gotBy,
  type Opened,
  open,
  openDeposited,
  until,
  value,
  work,
} from '../support/keepingDesk.js'
import { openMovementShop } from '../support/movementDesk.js'

afterAll(() => chain.stop())

/** Why the worker refused the first refund of a channel. */
async function refundReason({ shop }: Opened, channelId: string) {
  const [order] = await shop.context.store.read(({ orders }) =>
    orders.find({ ids: [`${channelId}-0`] }),
  )
  return order?.reason
}

test('a refund waits for the claim before it, and the channel stays stopped', async () => {
  const opened = await open()
  const { channels, setMining } = opened
  const channel = await openDeposited(opened)
  const { id: channelId } = channel
  await charge(opened, channel, 3_000_000n)
  onTestFinished(() => setMining(true))
  await setMining(false)
  const refunding = channels.refund({ channelId, timeout: 120_000 })
  await until(
    async () => (await refundReason(opened, channelId)) === 'unclaimedCharges',
  )
  for (let looks = 0; looks < 5; looks++) {
    expect(await channels.get({ channelId })).toMatchObject({
      state: 'stopped',
      reason: 'refund',
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await setMining(true)
  expect(await refunding).toMatchObject({
    status: 'refunded',
    value: 7_000_000n,
  })
  await until(async () => (await channels.get({ channelId })).state === 'open')
  expect(await channels.get({ channelId })).toMatchObject({
    balance: 3_000_000n,
    claimed: 3_000_000n,
  })
})

test('a refund leaves a channel stopped that the merchant stopped', async () => {
  const opened = await open()
  const { channels } = opened
  const { id: channelId } = await openDeposited(opened)
  await channels.stop({ channelId })
  const refunded = await channels.refund({ channelId, value: 1_000_000n })
  expect(refunded).toMatchObject({
    status: 'refunded',
    channel: { state: 'stopped', reason: 'merchant' },
  })
  expect(await channels.resume({ channelId })).toMatchObject({ state: 'open' })
})

test('a channel whose key is unknown does not delay the claims of others', async () => {
  const opened = await open({ claimAfter: 0n })
  const { shop } = opened
  const receiverAuthorizer = newAccount().address.toLowerCase() as `0x${string}`
  const broken = await openDeposited(opened, { receiverAuthorizer })
  const channel = await openDeposited(opened)
  await charge(opened, broken, 1_000n)
  const before = await gotBy(shop)
  await charge(opened, channel, 2_000n)
  await until(async () => (await gotBy(shop)) - before === 2_000n)
})

test('channels are claimed though the node refuses logs', async () => {
  const client = createClient({
    chain: chain.chain,
    transport: custom({
      request: async ({ method, params }) => {
        if (method === 'eth_getLogs') throw new Error('no logs')
        return chain.clients.public.request({ method, params } as never)
      },
    }),
  })
  const shop = await openMovementShop({ changes: { client } })
  const channels = createChannels({
    orders: shop.orders,
    policy: { claimAfter: 0n },
  })
  const opened = await work(shop, channels)
  const channel = await openDeposited(opened)
  const before = await gotBy(shop)
  await charge(opened, channel, 2_000n)
  await until(async () => (await gotBy(shop)) - before === 2_000n)
})

test('what a balance still covers is claimed after a withdrawal', async () => {
  const store = memoryStore()
  const opened = await open({}, store)
  const { shop } = opened
  const channel = await openDeposited(opened)
  await charge(opened, channel, 9_000_000n)
  await opened.end()
  const { config, payer: from } = channel
  await send({
    functionName: 'initiateWithdraw',
    args: [config, 4_000_000n],
    from,
  })
  await increaseTime(chain.clients.test, { seconds: 901 })
  await mine(chain.clients.test, { blocks: 1 })
  await send({ functionName: 'finalizeWithdraw', args: [config], from })
  const before = await gotBy(shop)
  const channels = createChannels({ orders: shop.orders })
  await work(shop, channels)
  await until(async () => (await gotBy(shop)) - before === value - 4_000_000n)
  await until(async () => {
    const { claimed } = await channels.get({ channelId: channel.id })
    return claimed > 0n
  })
  expect(await channels.health()).toMatchObject({
    ok: false,
    destinations: [{ unclaimed: 3_000_000n, uncovered: [channel.id] }],
  })
})

test('health names a channel whose whole deposit is gone', async () => {
  const opened = await open()
  const channel = await openDeposited(opened)
  await charge(opened, channel, 1_000n)
  await opened.inside.book.change(channel.id, (row) => ({
    ...row,
    state: 'stopped',
    reason: 'uncovered',
    balance: 0n,
  }))
  expect(await opened.channels.health()).toMatchObject({
    ok: false,
    destinations: [{ unclaimed: 1_000n, uncovered: [channel.id] }],
  })
})
