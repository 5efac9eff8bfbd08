/**
 * Charges a channel as a process of its own: `database channelId rounds
 * [hang]`. The database is the URL of PostgreSQL or a file of SQLite.
 */
import process from 'node:process'
import { postgresStore, sqliteStore } from 'countersign/sql'
import { channelStorage } from 'countersign/x402'
import { charge } from './stockChannel.js'

const [database = '', channelId = '', rounds = '0', hang] =
  process.argv.slice(2)
const store = database.startsWith('postgres:')
  ? postgresStore({ connectionString: database })
  : sqliteStore({ file: database })
const storage = channelStorage(store)

if (hang !== undefined) await storage.acquire(channelId, 'killed', 2_000)
for (let round = 0; round < Number(rounds); round++)
  await storage.updateChannel(channelId, async (current) => {
    if (hang === undefined) return charge(1n)(current)
    process.stdout.write('updating')
    await new Promise((resolve) => setTimeout(resolve, 60_000))
    return undefined
  })
await store.close()
