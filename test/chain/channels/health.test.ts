import { mine } from 'viem/actions'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { depositToChannel } from '../../../src/channels/engine.js'
import { chain, send } from '../support/channelDesk.js'
import {
  charge,
  open,
  openDeposited,
  until,
  value,
} from '../support/keepingDesk.js'
import { channelOf, signDeposit } from '../support/movementDesk.js'

afterAll(() => chain.stop())

test('health sums up what is owed, and names the channels that owe most', async () => {
  const opened = await open()
  const one = await openDeposited(opened)
  const other = await openDeposited(opened)
  await charge(opened, one, 100n)
  await charge(opened, other, 2_000n)
  const { ok, unclaimed, destinations } = await opened.channels.health()
  expect(ok).toBe(true)
  expect(unclaimed).toMatchObject([{ chainId: 31337, unclaimed: 2_100n }])
  expect(destinations).toMatchObject([
    {
      owing: [
        { channelId: other.id, unclaimed: 2_000n },
        { channelId: one.id, unclaimed: 100n },
      ],
      opening: 0,
      openingSince: undefined,
      withdrawal: undefined,
    },
  ])
})

test('health tells since when a deposit is not credited', async () => {
  const opened = await open()
  const { channels, inside, setMining } = opened
  const channel = await channelOf(opened.shop)
  const { id, config } = channel
  const signed = await signDeposit(channel, value)
  onTestFinished(() => setMining(true))
  await setMining(false)
  const wanted = { id, config, chainId: 31337, ...signed, timeout: 120_000 }
  const depositing = depositToChannel(inside, wanted)
  await until(async () => (await channels.health()).destinations.length > 0)
  expect(await channels.health()).toMatchObject({
    destinations: [
      { channels: 0, opening: 1, openingSince: expect.any(BigInt) },
    ],
  })
  await setMining(true)
  expect((await depositing).status).toBe('credited')
  expect(await channels.health()).toMatchObject({
    destinations: [{ channels: 1, opening: 0, openingSince: undefined }],
  })
})

test('health tells whether the claim before a withdrawal is in time', async () => {
  const opened = await open()
  const { channels, setMining } = opened
  const channel = await openDeposited(opened)
  await charge(opened, channel, 3_000n)
  onTestFinished(() => setMining(true))
  await setMining(false)
  const args = [channel.config, value]
  const from = channel.payer
  const announcing = send({ functionName: 'initiateWithdraw', args, from })
  const withdrawal = async () =>
    (await channels.health()).destinations[0]?.withdrawal
  await until(async () => {
    if (!(await withdrawal())) await mine(chain.clients.test, { blocks: 1 })
    return (await withdrawal())?.claim === 'sent'
  })
  await announcing
  expect(await channels.health()).toMatchObject({
    // The claim can still fail.
    ok: false,
    destinations: [
      {
        withdrawal: {
          channelId: channel.id,
          unclaimed: 3_000n,
          inTime: true,
        },
      },
    ],
  })
  await setMining(true)
  await until(async () => (await withdrawal()) === undefined)
  expect(await channels.health()).toMatchObject({
    ok: true,
    unclaimed: [{ unclaimed: 0n }],
  })
})

test('a withdrawal that nobody claims before is not in time', async () => {
  const opened = await open()
  const { channels, inside } = opened
  const { id, ...channel } = await openDeposited(opened)
  await charge(opened, { id, ...channel }, 3_000n)
  await opened.end()
  const now = inside.context.now() / 1000n
  await inside.book.change(id, (row) => ({
    ...row,
    withdrawing: value,
    withdrawableAt: now + 900n,
  }))
  expect(await channels.health()).toMatchObject({
    ok: false,
    destinations: [{ withdrawal: { claim: 'none', inTime: false } }],
  })
})
