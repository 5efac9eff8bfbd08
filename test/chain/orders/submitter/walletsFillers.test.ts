import { startDevChain } from 'countersign/devchain'
import type { Address } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import { rpcError } from '../../support/desk.js'
import {
  capture,
  rowsOf,
  type Shop,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'
import {
  openWalletShop,
  readOpen,
  type Send,
} from '../../support/walletShop.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20 })
afterAll(() => chain.stop())

const addresses = chain.accounts.slice(5).map(({ address }) => address)
const takeAddress = () => addresses.pop() as Address

/** One order is captured, and of another one only the wallet knows the outcome. */
async function losesOne(shop: Shop, silence: () => void): Promise<string> {
  const [first, lost = ''] = await storeOrders(shop, 2)
  expect(await capture(shop, first)).toMatchObject({ status: 'captured' })
  silence()
  expect(await capture(shop, lost, 300)).toMatchObject({ status: 'unknown' })
  return lost
}

async function storeNow(shop: Shop): Promise<string | undefined> {
  const { timestamp: now } = await chain.clients.public.getBlock()
  const [id] = await storeOrders(shop, 1, { now })
  return id
}

test('a filler of which nothing is known is asked for again until it is mined', async () => {
  let isSilent = false
  let fillers = 0
  const send: Send = async (pass, fields) => {
    if (fields.data === '0x') fillers++
    if (isSilent && fillers < 3) throw new Error('fetch failed')
    return pass(fields)
  }
  const policy = { bumpAfter: 1 }
  const shop = openWalletShop(chain, takeAddress(), send, { policy })
  const lost = await losesOne(shop, () => {
    isSilent = true
  })
  await chain.warp(1000)
  const next = await storeNow(shop)
  expect(await capture(shop, next)).toMatchObject({ status: 'captured' })
  expect(fillers).toBe(3)
  expect(await readOpen(shop)).toEqual([])
  const { transactions, events } = await rowsOf(shop, [lost])
  expect(transactions.map(({ kind, nonce }) => [kind, nonce])).toEqual([
    ['capture', 1],
    ...Array.from({ length: 3 }, () => ['filler', 1]),
  ])
  expect(events.map(({ type }) => type)).not.toContain('submitterShared')
  expect(await timesPaid(shop, [lost])).toEqual([0])
})

test('a filler a process died over is asked for by the next one', async () => {
  const store = memoryStore()
  const address = takeAddress()
  let isSilent = false
  const dying = openWalletShop(
    chain,
    address,
    (pass, fields) =>
      isSilent ? Promise.reject(new Error('fetch failed')) : pass(fields),
    { store, policy: { bumpAfter: 600 } },
  )
  const lost = await losesOne(dying, () => {
    isSilent = true
  })
  await chain.warp(1000)
  const kinds = async () => (await readOpen(dying)).map(({ kind }) => kind)
  void capture(dying, lost).catch(() => undefined)
  await storeNow(dying).then((id) => capture(dying, id, 500))
  await expect.poll(kinds).toEqual(['capture', 'filler'])
  await dying.engine.stop()

  const shop = openWalletShop(chain, address, (pass, fields) => pass(fields), {
    store,
  })
  const next = await storeNow(shop)
  expect(await capture(shop, next)).toMatchObject({ status: 'captured' })
  expect(await readOpen(shop)).toEqual([])
})

test('a filler the wallet declines is asked for again after a pause, not by each look', async () => {
  let isSilent = false
  let fillers = 0
  const send: Send = async (pass, fields) => {
    if (fields.data !== '0x' && isSilent) throw new Error('fetch failed')
    if (fields.data !== '0x') return pass(fields)
    fillers++
    throw rpcError(4001, 'User rejected the request.')
  }
  const policy = { bumpAfter: 600 }
  const shop = openWalletShop(chain, takeAddress(), send, { policy })
  await losesOne(shop, () => {
    isSilent = true
  })
  await chain.warp(1000)
  const next = await storeNow(shop)
  await capture(shop, next, 1500)
  expect(fillers).toBe(1)
})

test('a filler that was sent without its hash being known ends its account nonce', async () => {
  let isSilent = false
  const send: Send = async (pass, fields) => {
    if (!isSilent) return pass(fields)
    if (fields.data === '0x') await pass(fields)
    throw new Error('fetch failed')
  }
  const policy = { bumpAfter: 1 }
  const shop = openWalletShop(chain, takeAddress(), send, { policy })
  const lost = await losesOne(shop, () => {
    isSilent = true
  })
  await chain.warp(1000)
  expect(await capture(shop, lost)).toMatchObject({ reason: 'expired' })
  isSilent = false
  const next = await storeNow(shop)
  expect(await capture(shop, next)).toMatchObject({ status: 'captured' })
  const { events } = await rowsOf(shop, [lost])
  expect(events.map(({ type }) => type)).not.toContain('submitterShared')
})
