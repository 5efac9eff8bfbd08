import { mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  findMovementIds,
  noteMovement,
} from '../../../src/channels/record/noteMovements.js'
import { type Channel, chain } from '../support/channelDesk.js'
import {
  charge,
  type Opened,
  open,
  openDeposited,
  until,
} from '../support/keepingDesk.js'
import { storeClaim } from '../support/movementDesk.js'

afterAll(() => chain.stop())

const claimed = 4_000n

const untilPending = (count: number) =>
  until(async () => {
    const { pending } = await chain.clients.test.getTxpoolStatus()
    return pending === count
  })

/** A channel whose claim is sent, and in no block yet. */
async function openClaiming(): Promise<{ opened: Opened; channel: Channel }> {
  const opened = await open()
  const channel = await openDeposited(opened)
  await charge(opened, channel, claimed)
  await opened.setMining(false)
  await opened.channels.claim({ timeout: 0 })
  await untilPending(1)
  return { opened, channel }
}

const loadMovements = ({ inside }: Opened, { id }: Channel) =>
  inside.context.store.read(async (tables) =>
    tables.orders.find({ ids: await findMovementIds(tables, id) }),
  )

async function mineAll({ setMining }: Opened): Promise<void> {
  await setMining(true)
  await mine(chain.clients.test, { blocks: 1 })
}

test('a claim by command waits for the one on its way, and claims only what that leaves', async () => {
  const { opened, channel } = await openClaiming()
  const { channels, inside } = opened
  const none = { claimed: 0, pending: 1, rejected: 0 }
  expect(await channels.claim({ timeout: 0 })).toEqual(none)
  const dueOf = async () =>
    (await channels.get({ channelId: channel.id })).claimDue
  const later = inside.context.now()
  await inside.book.change(channel.id, (row) => ({ ...row, due: later }))
  const rotated = channels.rotateKey()
  // It looked at the chain before, and joined the claim.
  await until(async () => (await dueOf()) !== later)
  await mineAll(opened)
  expect((await rotated).claims).toEqual({ ...none, claimed: 1, pending: 0 })
  expect(await loadMovements(opened, channel)).toHaveLength(2)
  await opened.setMining(false)
  await charge(opened, channel, 10n)
  await channels.claim({ timeout: 0 })
  await charge(opened, channel, 5n)
  const both = channels.claim()
  await until(async () => (await loadMovements(opened, channel)).length === 4)
  await mineAll(opened)
  expect(await both).toEqual({ ...none, claimed: 1, pending: 0 })
  const { lines } = await channels.statement({ channelId: channel.id })
  expect(lines.map(({ value }) => value).slice(1)).toEqual([claimed, 10n, 5n])
})

test('two claims of one channel at once move the money once, and books and statement say so', async () => {
  const { opened, channel } = await openClaiming()
  const { channels, shop, inside } = opened
  const { id: channelId } = channel
  // As another process that requests it at the same moment.
  const other = await storeClaim(shop, [{ channel, claimed }])
  await inside.context.store.write((tables) =>
    noteMovement(tables, [channelId], other),
  )
  await untilPending(2)
  await mineAll(opened)
  await until(async () => {
    const movements = await loadMovements(opened, channel)
    return movements.every(
      ({ state, requested }) =>
        state === 'captured' || (state === 'stored' && requested === undefined),
    )
  })
  expect(await loadMovements(opened, channel)).toHaveLength(3)
  const booked: (bigint | undefined)[] = []
  for await (const { type, gross } of shop.orders.ledger({ transfers: true }))
    if (type === 'claim') booked.push(gross)
  expect(booked).toEqual([claimed])
  expect(await channels.statement({ channelId })).toMatchObject({
    lines: [{ action: 'deposit' }, { value: claimed }, { value: 0n }],
    sums: { claimed },
    elsewhere: { deposited: 0n, claimed: 0n },
  })
})
