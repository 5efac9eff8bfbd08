import { sql } from 'kysely'
import { StoreError } from '../../store/errors.js'
import type { SqlSession } from '../tables/sqlEngine.js'
import { SqlFault } from '../tables/sqlFault.js'

/**
 * SQL expression whose value changes when the server restarts or the tables are
 * replaced. Cheap enough for each transaction.
 */
const place = `concat_ws(' ', extract(epoch from pg_postmaster_start_time()),
  to_regclass('orders')::oid)`

/**
 * SQL expression whose value changes when a backup is restored. Then the
 * timeline, the system identifier or the table id differs.
 */
const identity = `concat_ws(' ', 'postgres',
  (select system_identifier from pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8),
  to_regclass('orders')::oid)`

type Database = { place: string; identity: string }

/**
 * Notices that another database has replaced the one that was opened. Behind a
 * pooler, this can happen without a lost connection.
 */
export function watchDatabase(): {
  /** Returns the identity of the database and remembers it. */
  identify(session: SqlSession): Promise<string>
  /**
   * Begins a transaction, and checks the database in the same round trip.
   *
   * @throws {@link StoreError} when another database has replaced the one that
   * was opened.
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
          'lost its database, and another one is in its place, as after a restore: restart the process',
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
  // A standby has no timeline of its own yet: treat the connection as lost and
  // try again.
  if (!found?.identity) throw new SqlFault('lost', '25006')
  return { ...found, identity: found.identity }
}
