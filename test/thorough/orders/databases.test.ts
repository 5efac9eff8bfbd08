import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sqliteEngine } from '../../../src/sql/engines/sqliteEngine.js'
import { createSqlStore } from '../../../src/sql/sqlStore.js'
import type { SqlEngine } from '../../../src/sql/tables/sqlEngine.js'
import { sqliteFile } from '../../chain/support/chaos.js'
import { countOf, fundedAccount } from '../../chain/support/desk.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { limitRoom } from '../../chain/support/limitRoom.js'
import { openShop, storedOrder } from '../../chain/support/shop.js'
import { mountSmallDisk } from '../../chain/support/smallDisk.js'
import { startSubscriptionChain } from '../../chain/support/subscriptionShop.js'

const chain = await startSubscriptionChain(0.3)
afterAll(() => chain.stop())

const patience = { timeout: 300_000 }

/** A file, and how it finds no room to grow, and finds some again. */
type FullDisk = {
  file: string
  fill: (engine: SqlEngine) => Promise<void>
  free: (engine: SqlEngine) => Promise<void>
}

/** Sells and captures while the disk is full, and afterwards. */
async function sellOnFullDisk({ file, fill, free }: FullDisk): Promise<void> {
  const engine = sqliteEngine({ file })
  const store = createSqlStore(engine)
  const account = await fundedAccount(chain)
  const { orders } = await openShop(chain, {
    store,
    sellers: [account],
    policy: { pollingInterval: 100, lease: 1_000 },
  })
  const shop = { orders, store, seller: account.address }
  const ids: string[] = []
  for (let sold = 0; sold < 4; sold++)
    ids.push((await storedOrder(chain, shop)).id)
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await running
    await orders.close()
  })
  await fill(engine)
  const refused = await (async () => {
    for (;;)
      try {
        ids.push((await storedOrder(chain, shop)).id)
      } catch (error) {
        return error
      }
  })()
  // When the commit itself finds no room, the store cannot say what was kept.
  expect(refused).toMatchObject({ name: 'StoreError', retryable: true })
  const captures = ids.map((orderId) =>
    orders.capture({ orderId }).catch((error: unknown) => error),
  )
  for (const end of await Promise.all(captures))
    if (end instanceof Error) expect(end).toMatchObject({ retryable: true })
  await free(engine)
  for (const orderId of ids)
    await expect
      .poll(
        () => orders.capture({ orderId }).then(({ status }) => status),
        patience,
      )
      .toBe('captured')
  // Each with one account nonce of its own.
  expect(await countOf(chain, account)).toBe(ids.length)
  await orders.reconcile()
  expect(await orders.audit()).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: ids.length } }],
  })
  expect(await findBookProblems(chain, orders)).toEqual([])
}

test('while SQLite may not grow (max_page_count) nothing is lost or sent twice, and all goes on once it may', () =>
  sellOnFullDisk({
    file: sqliteFile().file,
    fill: (engine) => limitRoom(engine, 0),
    free: (engine) => limitRoom(engine, 1_000_000),
  }))

test('while a small file system is full nothing is lost or sent twice, and all goes on once it has room', async ({
  skip,
}) => {
  const disk = mountSmallDisk(4)
  if (!disk) return skip('This user may not mount a file system: be root.')
  await sellOnFullDisk({
    file: join(disk.folder, 'orders.db'),
    fill: async () => disk.fill(),
    free: async () => disk.free(),
  })
})
