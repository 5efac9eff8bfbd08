// The first time, nothing was lost or sent twice and the workers went on, but
// all 66 refused writes said that the store did not know whether they were saved.
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import { sql } from 'kysely'
import Database from 'libsql'
import { type Hex, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sqliteEngine } from '../../../src/sql/engines/sqliteEngine.js'
import { createSqlStore } from '../../../src/sql/sqlStore.js'
import { sqliteFile } from '../../chain/support/chaos.js'
import { countOf, fundedAccount } from '../../chain/support/desk.js'
import { startEndpoint } from '../../chain/support/endpoint.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { limitRoom } from '../../chain/support/limitRoom.js'
import { pay } from '../../chain/support/shop.js'
import { mountSmallDisk } from '../../chain/support/smallDisk.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import { openShop, type Shop } from '../../kills/openShop.js'
import { startChild } from '../../kills/runChild.js'
import { setStage } from '../../kills/stage.js'

const chain = await startDevChain({ blockTime: 0.3, epochBlocks: 1 })
const worker = await bundleWorker('worker')
afterAll(async () => {
  worker.remove()
  await chain.stop()
})

const patience = { timeout: 300_000 }

/** A disk that can be full, with the database of one merchant on it. */
type Disk = {
  file: string
  openStore(): PaymentStore
  fill(left: number): Promise<void>
  free(): Promise<void>
  /** False where only the store of this process sees a full disk. */
  isReal: boolean
}

function openDisk(): Disk {
  const disk = mountSmallDisk(8)
  if (!disk) return limitPages()
  const file = join(disk.folder, 'orders.db')
  return {
    file,
    isReal: true,
    openStore: () => sqliteStore({ file }),
    fill: async (left) => disk.fill(left),
    free: async () => disk.free(),
  }
}

/** The same error of SQLite, where no disk can be mounted. */
function limitPages(): Disk {
  const { file } = sqliteFile()
  const engine = sqliteEngine({ file })
  return {
    file,
    isReal: false,
    openStore: () => createSqlStore(engine),
    fill: (left) => limitRoom(engine, Math.floor(left / 4096)),
    free: () =>
      engine.connect('write', async (session) => {
        await sql.raw('pragma max_page_count = 1000000').execute(session)
      }),
  }
}

/** Moves the log into the file, so that the next write needs room for both. */
function emptyLog(file: string): void {
  const database = new Database(file)
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
}

/** Sends nothing to the chain that the database does not know. */
async function watchSends(disk: Disk) {
  const unknown: Hex[] = []
  const watching = sqliteStore({ file: disk.file })
  onTestFinished(() => watching.close())
  const { url } = await startEndpoint(chain.urls.http, async (calls) => {
    for (const { method, params } of calls) {
      if (method !== 'eth_sendRawTransaction') continue
      const hash = keccak256(String(params[0]) as Hex)
      const query = { hashes: [hash], chainId: chain.chain.id }
      const rows = await watching.read((it) => it.transactions.find(query))
      if (rows.length === 0) unknown.push(hash)
    }
    return undefined
  })
  return { url, unknown }
}

type Sale = { id: string; buyer: PrivateKeyAccount; payment: unknown }

/** What the merchant and the buyers know, whatever the disk took. */
type Memory = {
  /** Orders whose payment was confirmed. */
  sold: Sale[]
  /** Orders whose payment got an error: the buyer's page asks again. */
  unsure: Sale[]
  refunds: { orderId: string; refundId: string; amount: string }[]
  /** Every error, as `name retryable message`. */
  errors: string[]
}

const wait = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

async function sell({ orders }: Shop, memory: Memory): Promise<void> {
  const buyer = await fundedAccount(chain, 12_500_000n)
  const drafted = await note(memory, () => orders.draft({ amount: '12.50' }))
  if (!drafted) return
  const payment = await pay(buyer, drafted.payment)
  const sale = { id: drafted.order.id, buyer, payment }
  const verdict = await note(memory, () =>
    orders.accept({ orderId: sale.id, payment }),
  )
  if (verdict) expect(verdict).toMatchObject({ ok: true })
  memory[verdict ? 'sold' : 'unsure'].push(sale)
}

async function refund({ orders }: Shop, memory: Memory): Promise<void> {
  const sale = memory.sold[memory.refunds.length]
  if (!sale) return
  const { state } = await orders.get({ orderId: sale.id })
  if (state !== 'captured') return
  const wanted = { orderId: sale.id, refundId: 'return', amount: '2.50' }
  const verdict = await note(memory, () => orders.refund(wanted))
  if (verdict) expect(verdict).toMatchObject({ ok: true })
  if (verdict) memory.refunds.push(wanted)
}

async function note<result>(
  { errors }: Memory,
  call: () => Promise<result>,
): Promise<result | undefined> {
  return call().catch((error) => {
    errors.push(`${error.name} ${error.retryable} ${error.message}`)
    return undefined
  })
}

const fullDisk =
  'StoreError true The store has no room left on its disk (SQLITE_FULL).'

/** Two workers, of which one is a process of its own that can be killed. */
async function startMerchant(disk: Disk) {
  const { plan, recipient } = await setStage(chain, {
    engine: { sqlite: disk.file },
    account: 'local',
    lease: 1_000,
    flow: 'work',
    orders: 2,
  })
  const { url, unknown } = await watchSends(disk)
  const told = { ...plan, url }
  const shop = openShop(told, { store: () => disk.openStore() })
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await running
    await shop.orders.close()
  })
  const start = () => {
    const child = startChild(worker.file, told)
    onTestFinished(() => child.kill('SIGKILL'))
    return child
  }
  return { plan, recipient, unknown, shop, start }
}

test('a disk that was full three times lost nothing that was confirmed, sent nothing that was not on record, and the workers went on by themselves', async () => {
  const disk = openDisk()
  const { plan, recipient, unknown, shop, start } = await startMerchant(disk)
  const memory: Memory = { sold: [], unsure: [], refunds: [], errors: [] }
  let child = start()
  const captured = async () => {
    const ids = [...plan.orderIds, ...memory.sold.map(({ id }) => id)]
    const asked = ids.map((orderId) => shop.orders.get({ orderId }))
    const states = (await Promise.all(asked)).map(({ state }) => state)
    return states.filter((state) => state !== 'captured')
  }
  await expect.poll(captured, patience).toEqual([])

  for (const left of [0, 40_000, 400_000]) {
    emptyLog(disk.file)
    // What is due when the disk is full.
    for (const _ of [1, 2, 3]) await sell(shop, memory)
    await disk.fill(left)
    const before = memory.errors.length
    for (let deed = 0; deed < 12; deed++) {
      await sell(shop, memory)
      await refund(shop, memory)
      await wait(250)
      if (deed !== 6) continue
      child.kill('SIGKILL')
      child = start()
    }
    expect(memory.errors.length).toBeGreaterThan(before)
    await disk.free()
    // A buyer's page asks again.
    for (const sale of memory.unsure.splice(0)) {
      const { id: orderId, payment } = sale
      expect(await shop.orders.accept({ orderId, payment })).toMatchObject({
        ok: true,
      })
      memory.sold.push(sale)
    }
    await expect.poll(captured, patience).toEqual([])
  }
  expect(new Set(memory.errors)).toEqual(new Set([fullDisk]))

  // Without a restart: the process that saw it all still works.
  await sell(shop, memory)
  await expect.poll(captured, patience).toEqual([])
  const open = async () => {
    const asked = memory.refunds.map(({ orderId }) =>
      shop.orders.get({ orderId }),
    )
    const all = (await Promise.all(asked)).flatMap(({ refunds }) => refunds)
    return all.map(({ state }) => state).filter((one) => one !== 'succeeded')
  }
  await expect.poll(open, patience).toEqual([])
  expect(unknown).toEqual([])
  const sold = plan.orderIds.length + memory.sold.length
  expect(await countOf(chain, recipient)).toBe(sold + memory.refunds.length)
  await shop.orders.reconcile()
  expect(await shop.orders.audit()).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: sold } }],
  })
  expect(await findBookProblems(chain, shop.orders)).toEqual([])
})
