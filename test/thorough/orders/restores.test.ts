import { renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import Database from 'libsql'
import { afterAll, test } from 'vitest'
import {
  isFull,
  seed,
  sqliteFile,
  startChance,
} from '../../chain/support/chaos.js'
import { liveThroughLoss } from '../../chain/support/lossShop.js'
import { startSubscriptionChain } from '../../chain/support/subscriptionShop.js'

const chain = await startSubscriptionChain(0.3)
afterAll(() => chain.stop())

const worlds = isFull ? 30 : 1

for (let world = 0; world < worlds; world++)
  test(`after a restored backup two workers charge, capture and refund nothing twice (seed ${seed}, world ${world})`, async () => {
    const { file, store } = sqliteFile()
    await store.close()
    const backup = join(dirname(file), 'backup.db')
    await liveThroughLoss(chain, startChance(world), {
      openStore: () => sqliteStore({ file }),
      keep: async () => {
        const database = new Database(file)
        database.exec(`vacuum into '${backup}'`)
        database.close()
      },
      lose: async () => {
        for (const end of ['', '-wal', '-shm'])
          rmSync(`${file}${end}`, { force: true })
        renameSync(backup, file)
      },
    })
  })
