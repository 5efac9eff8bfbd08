import { mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { findMovementIds } from '../../../src/channels/record/noteMovements.js'
import { chain } from '../support/channelDesk.js'
import { charge, open, openDeposited, until } from '../support/keepingDesk.js'

afterAll(() => chain.stop())

test('a rotation of the key while a claim is on its way moves the money once, and books and statement say so', async () => {
  const opened = await open()
  const { channels, shop, inside } = opened
  const channel = await openDeposited(opened)
  const { id: channelId } = channel
  const claimed = 4_000n
  await charge(opened, channel, claimed)
  const { test: node } = chain.clients
  const countPending = async () => (await node.getTxpoolStatus()).pending
  await opened.setMining(false)
  await channels.claim({ timeout: 0 })
  await until(async () => (await countPending()) === 1)
  await channels.rotateKey({ timeout: 0 })
  await until(async () => (await countPending()) === 2)
  await opened.setMining(true)
  await mine(node, { blocks: 1 })
  const loadMovements = () =>
    inside.context.store.read(async (tables) =>
      tables.orders.find({ ids: await findMovementIds(tables, channelId) }),
    )
  await until(async () => {
    const movements = await loadMovements()
    return movements.every(
      ({ state, requested }) =>
        state === 'captured' || (state === 'stored' && requested === undefined),
    )
  })
  expect(await loadMovements()).toHaveLength(3)
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
