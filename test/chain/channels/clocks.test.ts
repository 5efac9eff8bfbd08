import { createChannels } from 'countersign/channels'
import { getBlock } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { planWithdrawal } from '../../../src/channels/record/planWithdrawal.js'
import { hour, moveClocks } from '../../unit/support/movedClocks.js'
import { chain, send } from '../support/channelDesk.js'
import {
  charge,
  gotBy,
  open,
  openDeposited,
  until,
  value,
  work,
} from '../support/keepingDesk.js'

afterAll(() => chain.stop())

test.each([-2 * hour, 2 * hour])(
  'a shop whose clock is %i ms ahead credits deposits, claims and refunds',
  async (ahead) => {
    const { under } = moveClocks()
    await under({ ahead }, async () => {
      const opened = await open()
      const { channels, shop } = opened
      const channel = await openDeposited(opened)
      const before = await gotBy(shop)
      await charge(opened, channel, 4_000n)
      expect(await channels.claim()).toEqual({
        claimed: 1,
        pending: 0,
        rejected: 0,
      })
      expect((await gotBy(shop)) - before).toBe(4_000n)
      const { id: channelId } = channel
      expect(await channels.refund({ channelId })).toMatchObject({
        status: 'refunded',
        value: value - 4_000n,
      })
    })
  },
)

test('a withdrawal is claimed against at once, whatever the clock of the process that first saw it', async () => {
  const opened = await open()
  const { shop, inside, end } = opened
  const channel = await openDeposited(opened)
  await charge(opened, channel, 9_000_000n)
  await end()
  const args = [channel.config, value]
  await send({ functionName: 'initiateWithdraw', args, from: channel.payer })
  const { timestamp } = await getBlock(chain.clients.public)
  // It dies before it requests the claim.
  const hourAhead = BigInt(Math.floor((Date.now() + hour) / 1000))
  await inside.book.change(channel.id, (row) =>
    planWithdrawal(
      row,
      { value, withdrawableAt: timestamp + BigInt(row.withdrawDelay) },
      hourAhead,
    ),
  )
  const before = await gotBy(shop)
  await work(shop, createChannels({ orders: shop.orders }))
  await until(async () => (await gotBy(shop)) - before === 9_000_000n)
})
