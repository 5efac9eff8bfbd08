import { afterAll, expect, test } from 'vitest'
import {
  balanceOf,
  type Channel,
  chain,
  claimRow,
  newChannel,
  openChannel,
  refusal,
  send,
  signRefund,
  view,
} from '../support/channelDesk.js'
import { fundedAccount } from '../support/desk.js'
import { reformSignature } from '../support/reformSignature.js'

afterAll(() => chain.stop())

const million = 1_000_000n

const claim = async (channel: Channel, total: bigint) => ({
  functionName: 'claim',
  args: [[await claimRow(channel, total)]],
  from: channel.receiver,
})

const refund = (
  { config, receiver }: Channel,
  amount: bigint,
  from = receiver,
) => ({
  functionName: 'refund',
  args: [config, amount],
  from,
})

const initiate = (
  { config, payer }: Channel,
  amount: bigint,
  from = payer,
) => ({
  functionName: 'initiateWithdraw',
  args: [config, amount],
  from,
})

const finalize = ({ config, payer }: Channel, from = payer) => ({
  functionName: 'finalizeWithdraw',
  args: [config],
  from,
})

test('the receiver and its authorizer refund up to what is not claimed', async () => {
  const channel = await openChannel()
  const { id, payer, receiver, authorizer } = channel
  await send(await claim(channel, 4n * million))
  expect(await refusal(refund(channel, 1n, payer))).toBe(
    'NotAuthorizedToRefund',
  )
  expect(await refusal(refund(channel, 1n, authorizer))).toBe('no error')
  expect(await refusal(refund(channel, 0n))).toBe('ZeroRefund')
  const { events } = await send(refund(channel, 100n * million))
  expect(events).toEqual([
    {
      eventName: 'Refunded',
      args: { channelId: id, sender: receiver.address, amount: 6n * million },
    },
  ])
  expect(await view('channels', [id])).toEqual([4n * million, 4n * million])
  expect(await balanceOf(payer.address)).toBe(96n * million)
})

test('the nonce of refunds advances even when nothing moves', async () => {
  const channel = await openChannel()
  const { id } = channel
  await send(await claim(channel, 10n * million))
  const { events } = await send(refund(channel, million))
  expect(events).toEqual([])
  expect(await view('refundNonce', [id])).toBe(1n)
})

test('a refund of all, with nothing claimed, closes the channel', async () => {
  const channel = await openChannel()
  const { events } = await send(refund(channel, 10n * million))
  expect(events.map(({ eventName }) => eventName)).toEqual([
    'Refunded',
    'ChannelClosed',
  ])
})

test('anybody may send a refund that the authorizer signed, once and in order', async () => {
  const channel = await openChannel()
  const { id, config, authorizer, receiver } = channel
  const amount = 2n * million
  const signed = (signature: string, nonce = 0n) => ({
    functionName: 'refundWithSignature',
    args: [config, amount, nonce, signature],
  })
  const message = { channelId: id, nonce: 0n, amount }
  const signature = await signRefund(authorizer, message)
  const refusals = [
    [await signRefund(receiver, message), 0n, 'InvalidSignature'],
    [
      await signRefund(authorizer, { ...message, amount: 1n }),
      0n,
      'InvalidSignature',
    ],
    [reformSignature(signature, 'v of 0 or 1'), 0n, 'InvalidSignature'],
    [
      await signRefund(authorizer, { ...message, nonce: 1n }),
      1n,
      'InvalidRefundNonce',
    ],
  ] as const
  for (const [given, nonce, expected] of refusals)
    expect(await refusal(signed(given, nonce))).toBe(expected)
  await send(signed(signature))
  expect(await view('channels', [id])).toEqual([8n * million, 0n])
  expect(await refusal(signed(signature))).toBe('InvalidRefundNonce')
  await send(refund(channel, 1n))
  const stale = await signRefund(authorizer, { ...message, nonce: 1n })
  expect(await refusal(signed(stale, 1n))).toBe('InvalidRefundNonce')
})

test('the payer and its authorizer withdraw after the delay, nobody else', async () => {
  const key = await fundedAccount(chain)
  const channel = await openChannel({ payerAuthorizer: key.address })
  const { id, payer, receiver, authorizer } = channel
  for (const from of [receiver, authorizer])
    expect(await refusal(initiate(channel, 1n, from))).toBe('InvalidChannel')
  expect(await refusal(initiate(channel, 0n))).toBe('NothingToWithdraw')
  expect(await refusal(initiate(channel, 10n * million + 1n))).toBe(
    'WithdrawAmountExceedsAvailable',
  )
  expect(await refusal(finalize(channel))).toBe('WithdrawalNotPending')
  const { events } = await send(initiate(channel, 9n * million, key))
  const { timestamp } = await chain.clients.public.getBlock()
  expect(events).toEqual([
    {
      eventName: 'WithdrawInitiated',
      args: {
        channelId: id,
        amount: 9n * million,
        finalizeAfter: Number(timestamp) + 900,
      },
    },
  ])
  expect(await view('pendingWithdrawals', [id])).toEqual([
    9n * million,
    Number(timestamp),
  ])
  expect(await refusal(initiate(channel, 1n))).toBe('WithdrawalAlreadyPending')
  expect(await refusal(finalize(channel))).toBe('WithdrawDelayNotElapsed')
  await chain.warp(901)
  expect(await refusal(finalize(channel, receiver))).toBe(
    'NotAuthorizedToFinalizeWithdraw',
  )
  const ended = await send(finalize(channel, key))
  expect(ended.events).toEqual([
    {
      eventName: 'WithdrawFinalized',
      args: { channelId: id, sender: key.address, amount: 9n * million },
    },
  ])
  expect(await balanceOf(payer.address)).toBe(99n * million)
  expect(await view('pendingWithdrawals', [id])).toEqual([0n, 0])
})

test('a claim of 8 while a withdrawal of 9 of 10 waits leaves the payer 2', async () => {
  const channel = await openChannel()
  await send(initiate(channel, 9n * million))
  await send(await claim(channel, 8n * million))
  await chain.warp(901)
  const { events } = await send(finalize(channel))
  expect(events).toMatchObject([{ args: { amount: 2n * million } }])
  expect(await view('channels', [channel.id])).toEqual([
    8n * million,
    8n * million,
  ])
})

test('after the withdrawal a claim fails, and with it all rows beside it', async () => {
  const channel = await openChannel()
  const { receiver } = channel
  const other = await openChannel({}, { receiver })
  await send(initiate(channel, 9n * million))
  await chain.warp(901)
  await send(finalize(channel))
  const rows = [
    await claimRow(other, million),
    await claimRow(channel, 9n * million),
  ]
  const batch = { functionName: 'claim', args: [rows], from: receiver }
  expect(await refusal(batch)).toBe('ClaimExceedsBalance')
})

test('a withdrawal of all closes the channel, which a deposit opens again', async () => {
  const channel = await openChannel()
  await send(initiate(channel, 10n * million))
  await chain.warp(900)
  const { events } = await send(finalize(channel))
  expect(events.map(({ eventName }) => eventName)).toEqual([
    'WithdrawFinalized',
    'ChannelClosed',
  ])
  const again = await newChannel({}, channel)
  expect(again.id).toBe(channel.id)
})

test('a refund lessens the withdrawal that waits, or ends it', async () => {
  const channel = await openChannel()
  await send(initiate(channel, 6n * million))
  await send(refund(channel, 2n * million))
  expect(await view('pendingWithdrawals', [channel.id])).toMatchObject([
    4n * million,
    expect.any(Number),
  ])
  await send(refund(channel, 4n * million))
  expect(await view('pendingWithdrawals', [channel.id])).toEqual([0n, 0])
})
