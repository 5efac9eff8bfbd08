import { type Channels, createChannels } from 'countersign/channels'
import type { OrderRecord } from 'countersign/store'
import type { Hex } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { endRefund } from '../../../src/channels/verbs/followMovements.js'
import { chain } from '../support/channelDesk.js'
import {
  charge,
  type Opened,
  open,
  openDeposited,
  until,
  value,
  work,
} from '../support/keepingDesk.js'
import { recordOf } from '../support/movementDesk.js'
import { setOrder } from '../support/shop.js'

afterAll(() => chain.stop())

/** A channel with a deposit, and a refund that is not sent yet. */
async function beginRefund(opened: Opened): Promise<Hex> {
  const { id: channelId } = await openDeposited(opened)
  await opened.end()
  await opened.shop.orders.suspend()
  // A charge after the refund would make another row of it.
  await opened.inside.book.change(channelId, (row) => ({ ...row, usedAt: 1n }))
  const asked = { channelId, value: 1_000_000n, timeout: 0 }
  const begun = await opened.channels.refund(asked)
  expect(begun).toMatchObject({ status: 'pending', value: 1_000_000n })
  return channelId
}

/** Ends a refund as the worker does. */
const refuse = ({ shop }: Opened, id: string, fields: Partial<OrderRecord>) =>
  setOrder(shop, id, { requested: undefined, sendDue: undefined, ...fields })

/** Other channels over the same orders, with workers. */
async function goOn({ shop }: Opened): Promise<Channels> {
  await shop.orders.resume()
  const channels = createChannels({ orders: shop.orders })
  await work(shop, channels)
  return channels
}

test.each([
  [{ state: 'stored', reason: 'feeTooHigh' }, ''],
  [{ state: 'stored', reason: 'sealBroken' }, '.1'],
  [{ state: 'expired' }, '.1'],
] as const)(
  'a refund that ended as %o is made when it is asked for again',
  async (fields, suffix) => {
    const opened = await open()
    const channelId = await beginRefund(opened)
    await refuse(opened, `${channelId}-0`, fields)
    const channels = await goOn(opened)
    const again = { channelId, value: 1_000_000n }
    expect(await channels.refund(again)).toMatchObject({
      status: 'refunded',
      value: 1_000_000n,
      channel: { state: 'open', balance: value - 1_000_000n },
    })
    const id = `${channelId}-0${suffix}`
    expect((await recordOf(opened.shop, id)).proofs).toHaveLength(1)
    const first = await recordOf(opened.shop, `${channelId}-0`)
    if (suffix) expect(first.order.lookDue).toBeUndefined()
  },
)

test('a refund of another amount is refused while one is not decided', async () => {
  const opened = await open()
  const channelId = await beginRefund(opened)
  const { channels } = opened
  const other = { channelId, value: 2_000_000n, timeout: 0 }
  expect(await channels.refund(other)).toMatchObject({
    status: 'rejected',
    reason: 'refundInFlight',
  })
  const all = await channels.refund({ channelId, timeout: 0 })
  expect(all).toMatchObject({ status: 'pending', value: 1_000_000n })
  const working = await goOn(opened)
  const made = await working.refund({ channelId, value: 1_000_000n })
  expect(made).toMatchObject({ status: 'refunded', value: 1_000_000n })
})

test('a refund that is made is found by a copy of the chain that is older', async () => {
  const opened = await open()
  const channelId = await beginRefund(opened)
  const channels = await goOn(opened)
  const asked = { channelId, value: 1_000_000n }
  const made = await channels.refund(asked)
  const other = createChannels({ orders: opened.shop.orders })
  await opened.inside.book.change(channelId, (row) => ({
    ...row,
    balance: value,
    refundNonce: 0n,
    seenBlock: 1_000_000n,
  }))
  expect(await other.refund(asked)).toMatchObject({
    status: 'refunded',
    transactionHash: Object(made).transactionHash,
  })
})

test('a channel goes on although nobody waits for its refund, which was refused', async () => {
  const opened = await open()
  const channelId = await beginRefund(opened)
  await refuse(opened, `${channelId}-0`, {
    state: 'stored',
    reason: 'feeTooHigh',
  })
  const channels = await goOn(opened)
  await until(async () => (await channels.get({ channelId })).state === 'open')
})

test('a channel whose refund was sent stays stopped until it is made: its signature is public', async () => {
  const opened = await open()
  const { inside, shop } = opened
  const channelId = await beginRefund(opened)
  const orderId = `${channelId}-0`
  const { order } = await recordOf(shop, orderId)
  await refuse(opened, orderId, { state: 'expired' })
  const sent = {
    chainId: order.chainId,
    account: order.submitter,
    nonce: 1_000,
    bump: 0,
    kind: 'capture',
    movements: [{ orderId, attempt: 1 }],
    hash: `0x${'ab'.repeat(32)}`,
    raw: undefined,
    gas: 100_000n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    recordedAt: 1n,
    inFlight: false,
  } as const
  await shop.context.store.write((tables) => tables.transactions.insert([sent]))
  const kept = await inside.book.change(channelId, endRefund)
  expect(kept).toMatchObject({ state: 'stopped', reason: 'refund' })
  const channels = await goOn(opened)
  const again = { channelId, value: 1_000_000n }
  expect(await channels.refund(again)).toMatchObject({
    status: 'refunded',
    channel: { state: 'open' },
  })
})

test('the refund of a channel that the merchant stopped waits for its claim', async () => {
  const opened = await open()
  const { channels, setMining } = opened
  const channel = await openDeposited(opened)
  const { id: channelId } = channel
  await charge(opened, channel, 3_000_000n)
  await channels.stop({ channelId })
  onTestFinished(() => setMining(true))
  await setMining(false)
  await channels.refund({ channelId, timeout: 0 })
  const reason = async () => {
    const { order } = await recordOf(opened.shop, `${channelId}-0`)
    return order.reason
  }
  await until(async () => (await reason()) === 'unclaimedCharges')
  await setMining(true)
  await until(
    async () => (await channels.get({ channelId })).balance === 3_000_000n,
  )
  expect((await channels.get({ channelId })).reason).toBe('merchant')
})
