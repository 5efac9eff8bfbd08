import { sql } from 'kysely'
import { StoreError } from '../../store/errors.js'
import type { SqlSession } from '../tables/sqlEngine.js'
import { SqlFault } from '../tables/sqlFault.js'

/** Changes when the server was started anew, or the tables are others. */
const place = `concat_ws(' ', extract(epoch from pg_postmaster_start_time()),
  to_regclass('orders')::oid)`

/** A restored backup has another timeline, system or table. */
const identity = `concat_ws(' ', 'postgres',
  (select system_identifier from pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8),
  to_regclass('orders')::oid)`

type Database = { place: string; identity: string }

/**
 * Knows the database from when it was opened: through a pooler, a backup can be
 * put in its place without a connection being lost.
 */
export function watchDatabase(): {
  /** Names the database, and goes by that from now on. */
  identify(session: SqlSession): Promise<string>
  /**
   * Begins a transaction.
   *
   * @throws {@link StoreError} when it is in another database.
   */
  begin(session: SqlSession, script: string): Promise<void>
} {
  let known: Database | undefined
  return {
    identify: async (session) => {
      known = await loadIdentity(session)
      return known.identity
    },
    begin: async (session, script) => {
      const asked = sql.raw<{ place: string }>(
        `${script}; select ${place} as place`,
      )
      const { rows } = await asked.execute(session)
      if (!known || rows[0]?.place === known.place) return
      const found = await loadIdentity(session)
      if (found.identity !== known.identity)
        throw new StoreError(
          'lost its database, and another one is in its place, as after a restore; the process has to start anew',
        )
      known = found
    },
  }
}

async function loadIdentity(session: SqlSession): Promise<Database> {
  const asked = sql.raw<{ place: string; identity: string | null }>(
    `select ${place} as place,
      case when not pg_is_in_recovery() then ${identity} end as identity`,
  )
  const [found] = (await asked.execute(session)).rows
  // What only follows another server has nothing of its own yet.
  if (!found?.identity) throw new SqlFault('lost', '25006')
  return { ...found, identity: found.identity }
}
