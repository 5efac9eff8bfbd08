import { randomBytes } from 'node:crypto'
import { channels, createChannels } from 'countersign/channels'
import { memoryStore, sealer } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import { channelsContextOf } from '../../../src/channels/engine.js'
import { newChannel } from '../../../src/channels/record/newChannel.js'
import { chain } from '../support/channelDesk.js'
import { fundedAccount } from '../support/desk.js'
import { charge, chargeOnce } from '../support/keepingDesk.js'
import { channelOf, openMovementShop } from '../support/movementDesk.js'
import { openShop } from '../support/shop.js'

afterAll(() => chain.stop())

/** Opens one shop again and again, each time with other keys of the sealer. */
async function openStore() {
  const store = memoryStore()
  const receiver = await fundedAccount(chain)
  const keys: Record<string, Uint8Array> = {}
  const sealWith = (...names: string[]) => {
    for (const name of names) keys[name] ??= randomBytes(32)
    const own = names.map((name) => [name, keys[name] ?? randomBytes(32)])
    const current = names.at(-1) ?? ''
    return sealer({ keys: Object.fromEntries(own), current })
  }
  const open = async (...names: string[]) => {
    const changes = { seal: sealWith(...names) }
    const shop = await openMovementShop({ store, receiver, changes })
    const kept = createChannels({ orders: shop.orders })
    const getKeys = async () => (await shop.orders.health()).sealKeys
    return { shop, channels: kept, inside: channelsContextOf(kept), getKeys }
  }
  return { store, receiver, sealWith, open }
}

test('vouchers are counted by their key and sealed again, so that an older key can go', async () => {
  const { store, open } = await openStore()
  const first = await open('one')
  const channel = await channelOf(first.shop)
  const { id, config } = channel
  const { receiver: recipient, ...terms } = config
  const row = newChannel({ ...terms, id, recipient, chainId: 31337 }, 1n)
  await store.write((it) => it.channels.insert([row]))
  await charge(first, channel, 1_000n)
  // The voucher, and the key of the authorizer.
  expect(await first.getKeys()).toEqual({ one: 2 })
  const second = await open('one', 'two')
  // To open the shop seals the authorizer again.
  expect(await second.getKeys()).toEqual({ one: 1, two: 1 })
  const resealed = await second.shop.orders.reseal()
  expect(resealed).toEqual({ resealed: 1, left: 0 })
  expect(await second.getKeys()).toEqual({ two: 2 })
  // Its process has the older row in memory.
  expect(await chargeOnce(first, channel, 1n)).toBeUndefined()
  expect(await charge(first, channel, 1n)).toMatchObject({ charged: 1_001n })
  await second.shop.orders.reseal()
  const third = await open('two')
  expect(await charge(third, channel, 500n)).toMatchObject({ charged: 1_501n })
})

test('a key of a voucher that the sealer does not have is named', async () => {
  const { store, open } = await openStore()
  const { shop } = await open('two')
  const { id, config } = await channelOf(shop)
  const { receiver: recipient, ...terms } = config
  const row = newChannel({ ...terms, id, recipient, chainId: 31337 }, 1n)
  const voucher = 'gone 1 x'
  await store.write((it) => it.channels.insert([{ ...row, voucher }]))
  const { channels: kept } = await open('two')
  await expect(kept.stop({ channelId: id })).rejects.toMatchObject({
    name: 'OrdersSetupError',
    details: { missing: ['gone'], secrets: 1 },
  })
})

test('the authorizer is sealed again though no channel is used', async () => {
  const { store, receiver, sealWith, open } = await openStore()
  await open('one')
  const { orders } = await openShop(chain, {
    sellers: [receiver],
    store,
    kinds: [channels()],
    seal: sealWith('one', 'two'),
  })
  expect((await orders.health()).sealKeys).toEqual({ one: 1 })
  expect(await orders.reseal()).toEqual({ resealed: 1, left: 0 })
  expect((await orders.health()).sealKeys).toEqual({ two: 1 })
})
