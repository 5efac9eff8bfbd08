import { createChannels } from 'countersign/channels'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { type Address, createClient, custom } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { chain, signVoucher } from '../support/channelDesk.js'
import { newAccount, randomHash } from '../support/desk.js'
import {
  charge,
  gotBy,
  open,
  openDeposited,
  work,
} from '../support/keepingDesk.js'
import { openMovementShop } from '../support/movementDesk.js'

afterAll(() => chain.stop())

test('a charge is seen that the store has committed though it threw', async () => {
  let throws = false
  const kept = memoryStore()
  const store: PaymentStore = {
    ...kept,
    write: async (...given) => {
      const result = await kept.write(...given)
      if (!throws) return result
      throws = false
      throw new Error('the connection is lost')
    },
  }
  const opened = await open({}, store)
  const channel = await openDeposited(opened)
  await opened.end()
  const { book } = opened.inside
  const found = await book.load(channel.id)
  if (!found) throw new Error('no channel')
  const signature = await signVoucher(channel, 100n)
  const one = { channel: found, value: 100n, maxClaimable: 100n, signature }
  throws = true
  await expect(book.charge(one)).rejects.toThrow('the connection is lost')
  expect(await book.load(channel.id)).toMatchObject({ charged: 100n })
})

test('a claim is made though the node of another token does not answer', async () => {
  const client = createClient({
    chain: chain.chain,
    transport: custom({
      request: () => Promise.reject(new Error('no answer')),
    }),
  })
  const token = newAccount().address.toLowerCase() as Address
  const shop = await openMovementShop({
    changes: { tokens: [{ client, token }] },
  })
  const opened = await work(shop, createChannels({ orders: shop.orders }))
  const channel = await openDeposited(opened)
  await charge(opened, channel, 4_000n)
  const known = await opened.inside.book.load(channel.id)
  if (!known) throw new Error('no channel')
  const before = await gotBy(shop)
  const { version, position, ...row } = known
  const away = { ...row, token, id: randomHash() }
  await shop.store.write((it) => it.channels.insert([away]))
  const channelIds = [away.id, channel.id]
  await expect(opened.channels.claim({ channelIds })).rejects.toMatchObject({
    name: 'NodeError',
  })
  expect((await gotBy(shop)) - before).toBe(4_000n)
})
