import { createChannels } from 'countersign/channels'
import type { ChannelRecord } from 'countersign/store'
import { createClient, custom, toHex } from 'viem'
import { mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  chain,
  claimRow,
  depositCall,
  encodeCall,
  idOf,
  send,
} from '../support/channelDesk.js'
import {
  charge,
  type Opened,
  open,
  openDeposited,
  until,
  value,
} from '../support/keepingDesk.js'
import {
  channelOf,
  openMovementShop,
  sendDeposit,
  signDeposit,
} from '../support/movementDesk.js'

afterAll(() => chain.stop())

/** Changes what is on record about a channel. */
async function falsify(
  { inside }: Opened,
  id: `0x${string}`,
  changes: Partial<Pick<ChannelRecord, 'balance' | 'refundNonce' | 'reason'>>,
) {
  await inside.context.store.write(async ({ channels }) => {
    const [row] = await channels.find({ ids: [id] })
    if (row) await channels.update([{ ...row, ...changes }])
  })
}

test('the audit of channels finds nothing when record and contract agree', async () => {
  const opened = await open()
  const { channels } = opened
  const one = await openDeposited(opened)
  await openDeposited(opened)
  await charge(opened, one, 4_000n)
  await channels.claim()
  await channels.refund({ channelId: one.id })
  await until(async () => (await channels.audit()).ok)
  expect(await channels.audit()).toMatchObject({
    ok: true,
    destinations: [
      {
        channels: 2,
        differences: [],
        claimed: 4_000n,
        claimedElsewhere: 0n,
        unsettled: 0n,
        unknown: [],
        searchedFrom: expect.any(BigInt),
      },
    ],
  })
})

test('the audit names each value that is not as the contract says, and changes nothing', async () => {
  const opened = await open()
  const { channels } = opened
  const { id: channelId } = await openDeposited(opened)
  await opened.end()
  await falsify(opened, channelId, { balance: value - 1n, refundNonce: 3n })
  const differences = [
    { channelId, field: 'balance', onChain: value, onRecord: value - 1n },
    { channelId, field: 'refundNonce', onChain: 0n, onRecord: 3n },
  ]
  for (let times = 0; times < 2; times++)
    expect(await channels.audit()).toMatchObject({
      ok: false,
      destinations: [{ differences }],
    })
})

test('a deposit that was credited before a block has it is no difference', async () => {
  const opened = await open()
  const { id } = await openDeposited(opened)
  await opened.end()
  await falsify(opened, id, { balance: value + 5n, reason: 'preconfirmed' })
  expect(await opened.channels.audit()).toMatchObject({
    ok: true,
    destinations: [{ differences: [] }],
  })
  // The chain has more than what was credited.
  await falsify(opened, id, { balance: value - 5n })
  expect((await opened.channels.audit()).ok).toBe(false)
})

test('the audit sees a withdrawal and a claim that no worker has copied', async () => {
  const opened = await open()
  const { channels, shop } = opened
  const channel = await openDeposited(opened)
  await opened.end()
  const row = await claimRow(channel, 2_000n)
  await send({ functionName: 'claim', args: [[row]], from: shop.receiver })
  const args = [channel.config, 5_000n]
  await send({ functionName: 'initiateWithdraw', args, from: channel.payer })
  const { ok, destinations } = await channels.audit()
  expect(ok).toBe(false)
  expect(destinations).toMatchObject([
    {
      differences: [
        { field: 'claimed', onChain: 2_000n, onRecord: 0n },
        { field: 'withdrawing', onChain: 5_000n, onRecord: 0n },
        { field: 'withdrawableAt', onRecord: 0n },
      ],
      claimed: 2_000n,
      claimedElsewhere: 0n,
      unsettled: 2_000n,
    },
  ])
})

test('the audit names channels of the recipient that are not on record', async () => {
  const shop = await openMovementShop()
  const channels = createChannels({ orders: shop.orders })
  const channel = await channelOf(shop)
  await sendDeposit(channel, await signDeposit(channel, value))
  const row = await claimRow(channel, 700n)
  await send({ functionName: 'claim', args: [[row]], from: shop.receiver })
  const unknown = [
    {
      channelId: channel.id,
      payer: channel.config.payer,
      balance: value,
      claimed: 700n,
    },
  ]
  expect(await channels.audit({ fromBlock: 0n })).toMatchObject({
    ok: true,
    destinations: [{ channels: 0, claimedElsewhere: 700n, unknown }],
  })
  await expect(channels.audit({ fromBlock: -1n })).rejects.toThrow('fromBlock')
})

test('channels that a stranger opened and emptied hide no other', async () => {
  const shop = await openMovementShop()
  const channels = createChannels({ orders: shop.orders })
  const first = await channelOf(shop)
  const emptied = Array.from({ length: 100 }, (_, at) => {
    const salt = toHex(at + 1, { size: 32 })
    const config = { ...first.config, salt }
    return { ...first, config, id: idOf(config) }
  })
  const deposits = await Promise.all(
    emptied.map((channel) => depositCall(channel, 1n)),
  )
  const refunds = emptied.map(({ config }) => ({
    functionName: 'refund',
    args: [config, 1n],
  }))
  for (const calls of [deposits, refunds])
    for (const part of [calls.slice(0, 50), calls.slice(50)])
      await send({
        functionName: 'multicall',
        args: [part.map(encodeCall)],
        from: shop.receiver,
      })
  await sendDeposit(first, await signDeposit(first, value))
  expect(await channels.audit({ fromBlock: 0n })).toMatchObject({
    destinations: [{ unknown: [{ channelId: first.id, balance: value }] }],
  })
})

test('a node that gives no logs leaves the search for unknown channels out, and says so', async () => {
  const { public: reader } = chain.clients
  const client = createClient({
    chain: chain.chain,
    transport: custom({
      request: ({ method, params }) =>
        method === 'eth_getLogs'
          ? Promise.reject(new Error('pruned'))
          : reader.request({ method, params } as never),
    }),
  })
  const shop = await openMovementShop({
    changes: { client },
  })
  const channels = createChannels({ orders: shop.orders })
  await mine(chain.clients.test, { blocks: 1 })
  expect(await channels.audit()).toMatchObject({
    ok: true,
    destinations: [{ unknown: [], searchedFrom: undefined }],
  })
})
