import { claimWithSignatureCall } from 'countersign/channels'
import { sendTransaction } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  signChannelRefund,
  signClaim,
} from '../../../src/channels/movements/signMovement.js'
import {
  balanceOf,
  type Channel,
  chain,
  claimRow,
  send,
  view,
} from '../support/channelDesk.js'
import { fundedAccount } from '../support/desk.js'
import {
  depositedChannel,
  openMovementShop,
  recordOf,
  storeClaim,
  storeRefund,
  until,
  untilRefused,
} from '../support/movementDesk.js'

afterAll(() => chain.stop())

const stateIn = async ({ id }: Channel) => {
  const [balance, claimed] = (await view('channels', [id])) as bigint[]
  return { balance, claimed }
}

test('a refund waits for the claim, then pays the rest back', async () => {
  const shop = await openMovementShop()
  const channel = await depositedChannel(shop)
  const early = { value: 7_000_000n, charged: 3_000_000n }
  const waiting = await storeRefund(shop, channel, early)
  await untilRefused(shop, waiting)
  expect((await recordOf(shop, waiting)).order.reason).toBe('unclaimedCharges')
  expect(await stateIn(channel)).toEqual({ balance: 10_000_000n, claimed: 0n })
})

test('a refund pays what is left to the payer, and the books of the receiver do not see it', async () => {
  const shop = await openMovementShop()
  const channel = await depositedChannel(shop)
  const claimed = 3_000_000n
  await until(shop, await storeClaim(shop, [{ channel, claimed }]), 'captured')
  const before = (await balanceOf(channel.config.payer)) as bigint
  const value = 7_000_000n
  const id = await storeRefund(shop, channel, { value, charged: claimed })
  await until(shop, id, 'captured')
  expect(await balanceOf(channel.config.payer)).toBe(before + value)
  expect(await stateIn(channel)).toEqual({ balance: claimed, claimed })
  expect((await recordOf(shop, id)).proofs).toMatchObject([{ value }])
  const { destinations } = await shop.orders.audit()
  expect(destinations).toMatchObject([
    { differences: [], captured: { count: 1 }, refunded: { count: 0 } },
  ])
  const rows = []
  for await (const row of shop.orders.ledger()) rows.push(row)
  expect(rows.filter(({ type }) => type !== 'gas')).toMatchObject([
    { type: 'claim', gross: claimed },
  ])
  expect(rows.at(-1)).toMatchObject({ type: 'gas', movementId: id, gross: 0n })
})

test('a refund of more than is left is refused', async () => {
  const shop = await openMovementShop()
  const channel = await depositedChannel(shop)
  const row = await claimRow(channel, 5_000_000n)
  const from = shop.receiver
  await send({ functionName: 'claim', args: [[row]], from })
  const more = { value: 7_000_000n, charged: 3_000_000n }
  const id = await storeRefund(shop, channel, more)
  await untilRefused(shop, id)
  expect((await recordOf(shop, id)).order.reason).toBe('channelWithdrawn')
})

test('a claim that comes before a refund in its block leaves the refund the rest', async () => {
  const shop = await openMovementShop()
  const channel = await depositedChannel(shop)
  const { test: node } = chain.clients
  const stranger = await fundedAccount(chain)
  await node.setAutomine(false)
  const id = await storeRefund(shop, channel, {
    value: 10_000_000n,
    charged: 0n,
  })
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal })
  try {
    await expect
      .poll(async () => (await node.getTxpoolStatus()).pending, {
        timeout: 60_000,
      })
      .toBe(1)
    const row = await claimRow(channel, 4_000_000n)
    const rows = [
      {
        config: channel.config,
        maxClaimable: 4_000_000n,
        claimed: 4_000_000n,
        signature: row.signature,
      },
    ]
    const { together = '0x' } = await signClaim(shop.authorizer, {
      chainId: 31337,
      rows,
    })
    await sendTransaction(chain.clients.public, {
      ...claimWithSignatureCall({ rows, signature: together }),
      account: stranger,
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
  await until(shop, id, 'captured')
  expect(await stateIn(channel)).toEqual({
    balance: 4_000_000n,
    claimed: 4_000_000n,
  })
  expect((await recordOf(shop, id)).proofs).toMatchObject([
    { value: 6_000_000n },
  ])
})

test('a refund whose nonce another refund used is refused', async () => {
  const shop = await openMovementShop()
  const channel = await depositedChannel(shop)
  const args = [channel.config, 1_000_000n]
  await send({ functionName: 'refund', args, from: shop.receiver })
  const id = await storeRefund(shop, channel, {
    value: 9_000_000n,
    charged: 0n,
  })
  await untilRefused(shop, id)
  expect((await recordOf(shop, id)).order.reason).toBe('wrongNonce')
})

test('a refund that somebody else sent is found by its call', async () => {
  const shop = await openMovementShop()
  const channel = await depositedChannel(shop)
  const { authorizer } = shop
  const refund = { channelId: channel.id, refundNonce: 0n, value: 2_000_000n }
  const signature = await signChannelRefund(authorizer, {
    chainId: 31337,
    config: channel.config,
    ...refund,
  })
  const id = await storeRefund(shop, channel, {
    value: 2_000_000n,
    charged: 0n,
  })
  const args = [channel.config, 2_000_000n, 0n, signature]
  await send({ functionName: 'refundWithSignature', args })
  await until(shop, id, 'captured')
  const { sent, proofs } = await recordOf(shop, id)
  expect(sent).toEqual([])
  expect(proofs).toMatchObject([{ value: 2_000_000n }])
})
