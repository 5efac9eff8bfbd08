import { channelContract, finalizeWithdrawCall } from 'countersign/channels'
import { getBlockNumber, sendTransaction } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  balanceOf,
  type Channel,
  chain,
  claimRow,
  send,
  signVoucher,
  view,
} from '../support/channelDesk.js'
import { fundedAccount } from '../support/desk.js'
import {
  depositedChannel,
  type MovementShop,
  openChannels,
  openMovementShop,
  recordOf,
  stepsOf,
  storeClaim,
  until,
  untilRefused,
  workUntil,
} from '../support/movementDesk.js'

afterAll(() => chain.stop())

const { public: reader } = chain.clients

const claimedOf = async ({ id }: Channel) =>
  ((await view('channels', [id])) as readonly bigint[])[1]

const gotBy = ({ receiver }: MovementShop) => balanceOf(receiver.address)

const withdraw = async ({ config, payer }: Channel, amount: bigint) => {
  const args = [config, amount]
  await send({ functionName: 'initiateWithdraw', args, from: payer })
  await chain.warp(901)
  await send({ functionName: 'finalizeWithdraw', args: [config], from: payer })
}

const ledgerOf = async ({ orders }: MovementShop, transfers: boolean) => {
  const rows = []
  for await (const row of orders.ledger({ transfers }))
    if (row.type !== 'gas') rows.push(row)
  return rows
}

test('ten channels are claimed and settled in one transaction; one that fails is left out and named', async () => {
  const shop = await openMovementShop()
  const channels = await openChannels(shop, 10)
  const [bad] = channels
  if (!bad) throw new Error('no channel')
  const stranger = await fundedAccount(chain)
  const signature = await signVoucher(bad, 1_000_000n, stranger)
  const id = await storeClaim(
    shop,
    channels.map((channel) => ({
      channel,
      claimed: 1_000_000n,
      ...(channel === bad ? { signature } : {}),
    })),
  )
  await until(shop, id, 'captured')
  expect(await Promise.all(channels.map(claimedOf))).toEqual(
    channels.map((channel) => (channel === bad ? 0n : 1_000_000n)),
  )
  expect(await gotBy(shop)).toBe(9_000_000n)
  const { sent, proofs } = await recordOf(shop, id)
  expect(sent).toHaveLength(1)
  expect(proofs).toMatchObject([{ value: 9_000_000n }])
  const { events } = await shop.orders.events({ limit: 1_000 })
  const step = events.find(
    ({ type, data }) =>
      type === 'channelMoved' && Object(data).state === 'sent',
  )
  expect(step?.data).toMatchObject({
    movementId: id,
    leftOut: [{ channelId: bad.id, reason: 'wrongSigner' }],
  })
})

test('a claim stands in the books as what it settled, and the audit agrees', async () => {
  const shop = await openMovementShop()
  const [channel] = await openChannels(shop, 1)
  if (!channel) throw new Error('no channel')
  const id = await storeClaim(shop, [{ channel, claimed: 2_000_000n }])
  await until(shop, id, 'captured')
  expect(await ledgerOf(shop, false)).toMatchObject([
    { type: 'claim', gross: 2_000_000n, movementId: id },
  ])
  expect(await ledgerOf(shop, true)).toMatchObject([
    { type: 'opening' },
    { type: 'claim', gross: 2_000_000n, movementId: id },
    { type: 'closing', balance: 2_000_000n },
  ])
  const { destinations } = await shop.orders.audit()
  expect(destinations).toMatchObject([
    {
      differences: [],
      captured: { count: 1, value: 2_000_000n },
      unmatched: { count: 0 },
    },
  ])
})

test('a claim after a smaller one takes the rest', async () => {
  const shop = await openMovementShop()
  const channel = await depositedChannel(shop)
  const first = await storeClaim(shop, [{ channel, claimed: 1_000_000n }])
  await until(shop, first, 'captured')
  const second = await storeClaim(shop, [{ channel, claimed: 2_500_000n }])
  await until(shop, second, 'captured')
  expect(await claimedOf(channel)).toBe(2_500_000n)
  expect(await gotBy(shop)).toBe(2_500_000n)
  expect((await recordOf(shop, second)).proofs).toMatchObject([
    { value: 1_500_000n },
  ])
})

test('a claim with nothing left is refused, and one that only waits for its settlement settles', async () => {
  const shop = await openMovementShop()
  const [channel] = await openChannels(shop, 1)
  if (!channel) throw new Error('no channel')
  const rows = [await claimRow(channel, 1_000_000n)]
  const args = [rows]
  await send({ functionName: 'claim', args, from: shop.receiver })
  const settles = await storeClaim(shop, [{ channel, claimed: 1_000_000n }])
  await until(shop, settles, 'captured')
  expect(await gotBy(shop)).toBe(1_000_000n)
  const nothing = await storeClaim(shop, [{ channel, claimed: 1_000_000n }])
  await untilRefused(shop, nothing)
  expect(await recordOf(shop, nothing)).toMatchObject({
    order: { reason: 'nothingToClaim' },
    sent: [],
  })
  expect(await stepsOf(shop, nothing)).toEqual(['requested', 'refused'])
})

test('a channel whose payer withdrew is left out, and alone it is refused', async () => {
  const shop = await openMovementShop()
  const [gone, kept] = await openChannels(shop, 2)
  if (!gone || !kept) throw new Error('no channel')
  await withdraw(gone, 9_500_000n)
  const claimed = 1_000_000n
  const both = await storeClaim(shop, [
    { channel: gone, claimed },
    { channel: kept, claimed },
  ])
  await until(shop, both, 'captured')
  expect(await gotBy(shop)).toBe(claimed)
  const alone = await storeClaim(shop, [{ channel: gone, claimed }])
  await untilRefused(shop, alone)
  expect((await recordOf(shop, alone)).order.reason).toBe('channelWithdrawn')
})

test('a withdrawal that ends before a claim in its block makes it fail, and the next claim leaves that channel out', async () => {
  const shop = await openMovementShop()
  const [gone, kept] = await openChannels(shop, 2)
  if (!gone || !kept) throw new Error('no channel')
  const { test: node } = chain.clients
  const start = [gone.config, 9_500_000n]
  const from = gone.payer
  await send({ functionName: 'initiateWithdraw', args: start, from })
  await chain.warp(901)
  const wanted = [gone, kept].map((channel) => ({
    channel,
    claimed: 1_000_000n,
  }))
  await node.setAutomine(false)
  const id = await storeClaim(shop, wanted)
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal })
  try {
    await expect
      .poll(async () => (await node.getTxpoolStatus()).pending, {
        timeout: 60_000,
      })
      .toBe(1)
    await sendTransaction(reader, {
      ...finalizeWithdrawCall({ config: gone.config }),
      account: gone.payer,
      chain: chain.chain,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 5n * 10n ** 10n,
      gas: 300_000n,
    })
  } finally {
    await node.setAutomine(true)
    stop.abort()
    await running
  }
  await untilRefused(shop, id)
  expect((await recordOf(shop, id)).order.reason).toBe('channelWithdrawn')
  expect(await stepsOf(shop, id)).toEqual(['requested', 'sent', 'refused'])
  await until(shop, await storeClaim(shop, wanted), 'captured')
  expect(await gotBy(shop)).toBe(1_000_000n)
})

test('a relayer claims with the signature of the authorizer', async () => {
  const relayer = await fundedAccount(chain)
  const receiver = await fundedAccount(chain)
  const shop = await openMovementShop({
    receiver,
    sellers: [relayer],
    changes: { recipients: [receiver.address] },
  })
  const [one, other, bad] = await openChannels(shop, 3)
  if (!one || !other || !bad) throw new Error('no channel')
  const claimed = 1_000_000n
  const whole = await storeClaim(shop, [
    { channel: one, claimed },
    { channel: other, claimed },
  ])
  await until(shop, whole, 'captured')
  const signature = await signVoucher(bad, 2n)
  const some = await storeClaim(shop, [
    { channel: bad, claimed: 2_000_000n, signature },
    { channel: one, claimed: 2_000_000n },
    { channel: other, claimed: 3_000_000n },
  ])
  await until(shop, some, 'captured')
  expect(await gotBy(shop)).toBe(5_000_000n)
  expect((await recordOf(shop, some)).proofs).toMatchObject([
    { submitter: relayer.address.toLowerCase(), value: 3_000_000n },
  ])
})

test('what a stranger settles is a claim in the books, and no payment without an order', async () => {
  const shop = await openMovementShop()
  const [channel] = await openChannels(shop, 1)
  if (!channel) throw new Error('no channel')
  const other = await storeClaim(shop, [{ channel, claimed: 1_000_000n }])
  await until(shop, other, 'captured')
  const { receiver, token } = channel.config
  const row = await claimRow(channel, 3_000_000n)
  const from = shop.receiver
  await send({ functionName: 'claim', args: [[row]], from })
  await send({ functionName: 'settle', args: [receiver, token] })
  await shop.orders.reconcile()
  const { events } = await shop.orders.events({ limit: 1_000 })
  expect(events.filter(({ type }) => type === 'unmatched')).toEqual([])
  expect(await ledgerOf(shop, false)).toMatchObject([
    { type: 'claim', gross: 1_000_000n, movementId: other },
    {
      type: 'claim',
      gross: 2_000_000n,
      payer: channelContract,
      movementId: undefined,
    },
  ])
  const { destinations } = await shop.orders.audit()
  expect(destinations).toMatchObject([{ differences: [] }])
})

test('a reorganization takes a claim back, and it is made again', async () => {
  const shop = await openMovementShop()
  const [channel] = await openChannels(shop, 1)
  if (!channel) throw new Error('no channel')
  const before = await getBlockNumber(reader)
  const id = await storeClaim(shop, [{ channel, claimed: 1_000_000n }])
  await until(shop, id, 'captured')
  const depth = Number((await getBlockNumber(reader)) - before)
  await chain.reorg({ depth, transactions: 'dropped' })
  expect(await claimedOf(channel)).toBe(0n)
  await workUntil(shop, async () =>
    (await stepsOf(shop, id)).includes('reorged'),
  )
  await until(shop, id, 'captured')
  expect(await claimedOf(channel)).toBe(1_000_000n)
  expect(await gotBy(shop)).toBe(1_000_000n)
  expect((await recordOf(shop, id)).proofs).toHaveLength(1)
})

test('a claim whose receiver the token blocks is made without settling', async () => {
  const shop = await openMovementShop()
  const [channel] = await openChannels(shop, 1)
  if (!channel) throw new Error('no channel')
  await chain.block({ account: shop.receiver.address })
  const id = await storeClaim(shop, [{ channel, claimed: 1_000_000n }])
  await until(shop, id, 'captured')
  expect(await claimedOf(channel)).toBe(1_000_000n)
  expect((await recordOf(shop, id)).proofs).toMatchObject([{ value: 0n }])
  expect(await gotBy(shop)).toBe(0n)
})
