import { sql } from 'kysely'
import { runText } from '../tables/runQuery.js'
import type { SqlSession } from '../tables/sqlEngine.js'
import { SqlFault } from '../tables/sqlFault.js'
import { SqlLoss } from '../tables/sqlLoss.js'
import type { PostgresStoreParameters } from './postgresParameters.js'

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
const identity = identityWith('left(pg_walfile_name(pg_current_wal_lsn()), 8)')

/**
 * The same for servers that do not tell their timeline, or whose standbys lack
 * nothing. Stays the same when a standby is promoted.
 */
const plainIdentity = identityWith(`'no timeline'`)

function identityWith(timeline: string): string {
  return `concat_ws(' ', 'postgres',
    (select system_identifier from pg_control_system()),
    ${timeline}, to_regclass('orders')::oid)`
}

/**
 * SQLSTATEs of servers that do not tell the position of their write-ahead log,
 * such as Aurora without logical replication: object not in prerequisite state,
 * feature not supported.
 */
const noTimeline = ['55000', '0A000']

type Database = { place: string; identity: string }

/**
 * Notices that another database has replaced the one that was opened. Behind a
 * pooler, this can happen without a lost connection.
 */
export function watchDatabase(standbys: PostgresStoreParameters['standbys']): {
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
  const load = standbys === 'synchronous' ? loadPlain : loadIdentity
  return {
    identify: async (session) => {
      known = await load(session)
      return known.identity
    },
    begin: async (session, script) => {
      const asked = sql.raw<{ place: string }>(
        `${script}; select ${place} as place`,
      )
      const { rows } = await asked.execute(session)
      if (!known || rows[0]?.place === known.place) return
      const found = await load(session)
      if (found.identity !== known.identity)
        throw new SqlLoss(
          'database, and another one is in its place, as after a restore',
        )
      known = found
    },
  }
}

async function loadIdentity(session: SqlSession): Promise<Database> {
  await runText(session, 'savepoint identity')
  return loadWith(session, identity).catch(async (error: unknown) => {
    if (!noTimeline.includes(Object(error).code)) throw error
    await runText(session, 'rollback to savepoint identity')
    return loadPlain(session)
  })
}

const loadPlain = (session: SqlSession): Promise<Database> =>
  loadWith(session, plainIdentity)

async function loadWith(
  session: SqlSession,
  identity: string,
): Promise<Database> {
  const { rows } = await sql
    .raw<{ place: string; identity: string | null }>(
      `select ${place} as place,
        case when not pg_is_in_recovery() then ${identity} end as identity`,
    )
    .execute(session)
  const [found] = rows
  // A standby has no timeline of its own yet: treat the connection as lost and
  // try again.
  if (!found?.identity) throw new SqlFault('lost', '25006')
  return { ...found, identity: found.identity }
}
