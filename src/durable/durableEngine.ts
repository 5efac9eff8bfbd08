import { sql } from 'kysely'
import { drawNonce } from '../core/drawNonce.js'
import { hasSqliteTable } from '../sql/engines/hasSqliteTable.js'
import { bothSides } from '../sql/tables/archivedTables.js'
import type { SqlEngine, SqlSession } from '../sql/tables/sqlEngine.js'
import { StoreError } from '../store/errors.js'
import { durableDialect } from './durableDialect.js'
import { durableSession } from './durableSession.js'
import type { DurableStorage } from './durableStorage.js'
import { heldTable } from './heldChanges.js'
import { type ObjectUnit, objectDatabase } from './objectDatabase.js'

/** Creates the engine for the SQL database of a Durable Object. */
export function durableEngine(
  storage: DurableStorage,
  { restored }: { restored?: string | undefined },
): SqlEngine {
  const database = objectDatabase(storage)
  const units = new WeakMap<SqlSession, ObjectUnit>()
  const self = {}
  let isClosed = false
  return {
    dialect: durableDialect,
    patienceMilliseconds: 10_000,
    connect: async (mode, use) => {
      if (isClosed) throw new StoreError('is closed')
      return database.use(mode, (unit) => {
        const session = durableSession(unit)
        units.set(session, unit)
        return use(session)
      })
    },
    // No other release can migrate the tables while this object runs.
    begin: async () => bothSides,
    commit: async (session, isNews) => {
      await units.get(session)?.commit()
      if (isNews) database.tell(self)
    },
    rollback: async (session) => units.get(session)?.undo(),
    assertDurable: async () => undefined,
    lockSchema: createOwnTables,
    // A transaction that writes excludes all others.
    lockVersions: async () => undefined,
    hasTable: hasSqliteTable,
    identify: async (session) => {
      const { rows } = await sql<{ identity: string }>`
        select identity from object_identity`.execute(session)
      const parts = ['durable', rows[0]?.identity, restored]
      return parts.filter((part) => part !== undefined).join(' ')
    },
    lock: async () => undefined,
    onChange: (listener) => database.listen(self, listener),
    close: async () => {
      isClosed = true
    },
  }
}

async function createOwnTables(session: SqlSession): Promise<void> {
  await sql.raw(heldTable).execute(session)
  await sql`create table if not exists object_identity (
    place integer primary key,
    identity text not null
  ) strict`.execute(session)
  await sql`insert into object_identity (place, identity)
    values (1, ${drawNonce()}) on conflict do nothing`.execute(session)
}
