import { type Channels, createChannels } from 'countersign/channels'
import {
  type ChannelRecord,
  memoryStore,
  type PaymentStore,
} from 'countersign/store'
import { mine } from 'viem/actions'
import { expect, onTestFinished } from 'vitest'
import {
  type ChannelsContext,
  channelsContextOf,
  depositToChannel,
} from '../../../src/channels/engine.js'
import { balanceOf, type Channel, chain, signVoucher } from './channelDesk.js'
import {
  channelOf,
  type MovementShop,
  openMovementShop,
  signDeposit,
} from './movementDesk.js'

/** A shop that keeps channels, and its running workers. */
export type Opened = {
  shop: MovementShop
  channels: Channels
  inside: ChannelsContext
  /** Ends the workers. */
  end(): Promise<void>
  /** Has the chain make blocks, or no more. */
  setMining(isOn: boolean): Promise<void>
}

export const value = 10_000_000n

/** A shop that keeps channels; its worker runs until the test is over. */
export async function open(
  policy: Parameters<typeof createChannels>[0]['policy'] = {},
  store: PaymentStore = memoryStore(),
): Promise<Opened> {
  const shop = await openMovementShop({ store })
  return work(shop, createChannels({ orders: shop.orders, policy }))
}

/** Runs the workers of a shop and its channels, until `end` or the test's end. */
export async function work(
  shop: MovementShop,
  channels: Channels,
): Promise<Opened> {
  const inside = channelsContextOf(channels)
  const ending = new AbortController()
  const { signal } = ending
  const running = [shop.orders.run({ signal }), channels.run({ signal })]
  let mines = true
  const mining = setInterval(() => {
    if (mines) mine(chain.clients.test, { blocks: 1 }).catch(() => undefined)
  }, 100)
  const setMining = async (isOn: boolean) => {
    mines = isOn
    await chain.clients.test.setAutomine(isOn)
  }
  const end = async () => {
    clearInterval(mining)
    ending.abort()
    await Promise.all(running)
  }
  onTestFinished(end)
  return { shop, channels, inside, end, setMining }
}

async function deposit(
  { inside }: Opened,
  channel: Channel,
): ReturnType<typeof depositToChannel> {
  const { id, config } = channel
  const { payment, salt } = await signDeposit(channel, value)
  const wanted = { id, config, payment, salt, chainId: 31337, timeout: 60_000 }
  return depositToChannel(inside, wanted)
}

export async function openDeposited(
  opened: Opened,
  changes: Parameters<typeof channelOf>[1] = {},
): Promise<Channel> {
  const channel = await channelOf(opened.shop, changes)
  const result = await deposit(opened, channel)
  expect(result.status).toBe('credited')
  return channel
}

/**
 * Charges as the gate does: with the voucher for all that was charged, and again
 * if the worker has changed the channel meanwhile.
 */
export async function charge(
  opened: Pick<Opened, 'inside'>,
  channel: Channel,
  amount: bigint,
): Promise<ChannelRecord> {
  for (;;) {
    const charged = await chargeOnce(opened, channel, amount)
    if (charged) return charged
  }
}

/** Charges unless another process or the worker has changed the channel. */
export async function chargeOnce(
  { inside }: Pick<Opened, 'inside'>,
  channel: Channel,
  amount: bigint,
): Promise<ChannelRecord | undefined> {
  const { book } = inside
  return book.inTurn(channel.id, async () => {
    const found = await book.load(channel.id)
    if (!found) throw new Error('no channel')
    const maxClaimable = found.charged + amount
    const signature = await signVoucher(channel, maxClaimable)
    return book.charge({
      channel: found,
      value: amount,
      maxClaimable,
      signature,
    })
  })
}

export const gotBy = async ({ receiver }: MovementShop): Promise<bigint> =>
  BigInt(String(await balanceOf(receiver.address)))

export async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 600; looks++) {
    if (await isDone()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('not done after 600 looks')
}
