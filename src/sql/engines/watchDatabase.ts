import { sql } from 'kysely'
import { bothSides, onlyLive } from '../tables/archivedTables.js'
import { assertKnown } from '../tables/migrations.js'
import { runText } from '../tables/runQuery.js'
import type { BeginChecks, SqlSession } from '../tables/sqlEngine.js'
import { SqlFault } from '../tables/sqlFault.js'
import { SqlLoss } from '../tables/sqlLoss.js'
import type { Side } from '../tables/sqlTables.js'
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

/** SQLSTATE: undefined table. */
const noTable = '42P01'

/**
 * SQL expression. Reading it also locks the table against a migration until the
 * end of the transaction.
 */
const tablesVersion = '(select max(version) from versions) as version'

/**
 * SQL expression: true if the archive has orders. If it has none, queries leave
 * it out. PostgreSQL would need time to plan the search of its empty tables,
 * each time that a query runs.
 */
const hasArchive = 'exists (select 1 from archived_orders) as archived'

type Began = { place: string; version?: bigint | string; archived?: boolean }

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
   * Returns the sides on which queries must search.
   *
   * @throws {@link StoreError} when another database has replaced the one that
   * was opened, or when the tables are of a newer version.
   */
  begin(
    session: SqlSession,
    script: string,
    checks: BeginChecks,
  ): Promise<readonly Side[]>
} {
  let known: Database | undefined
  const load = standbys === 'synchronous' ? loadPlain : loadIdentity
  return {
    identify: async (session) => {
      known = await load(session)
      return known.identity
    },
    begin: async (session, script, { known: newest, asksArchive }) => {
      const version = newest === undefined ? '' : `, ${tablesVersion}`
      const archived = asksArchive ? `, ${hasArchive}` : ''
      const asked = sql.raw<Began>(
        `${script}; select ${place} as place${version}${archived}`,
      )
      const { rows } = await asked.execute(session).catch(throwLoss)
      const [row] = rows
      if (known && row?.place !== known.place) {
        const found = await load(session)
        if (found.identity !== known.identity) throw replaced()
        known = found
      }
      if (newest !== undefined) assertKnown(Number(row?.version), newest)
      return row?.archived === false ? onlyLive : bothSides
    },
  }
}

function replaced(): SqlLoss {
  return new SqlLoss(
    'lost its database, and another one is in its place, as after a restore: restart the process',
  )
}

/** A database without tables is another one than the one that was opened. */
function throwLoss(error: unknown): never {
  throw Object(error).code === noTable ? replaced() : error
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
