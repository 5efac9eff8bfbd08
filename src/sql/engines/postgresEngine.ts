import { Kysely, PostgresDialect, sql } from 'kysely'
import { drawNonce } from '../../core/drawNonce.js'
import { StoreError } from '../../store/errors.js'
import { runText } from '../tables/runQuery.js'
import type { SqlEngine, SqlSession } from '../tables/sqlEngine.js'
import type { SqlTables } from '../tables/sqlTables.js'
import { postgresDialect } from './postgresDialect.js'
import { channel, encodeNotice, listenPostgres } from './postgresListener.js'
import {
  checkPostgresParameters,
  type PostgresStoreParameters,
} from './postgresParameters.js'
import {
  hearErrors,
  ignoreError,
  keepAlive,
  loadPostgres,
  type PostgresPool,
  silentMilliseconds,
  watchPool,
} from './postgresPool.js'
import { watchDatabase } from './watchDatabase.js'

/**
 * Milliseconds after which PostgreSQL ends a statement that waits for a lock,
 * and a transaction in which no statement runs. Short, because the server does
 * not notice a silent connection, and its transaction holds up other ones.
 */
const lockMilliseconds = silentMilliseconds - 1_000
const idleMilliseconds = 5_000

/**
 * Creates the engine for PostgreSQL. Uses no session state beyond a
 * transaction, because a pooler may give each transaction another connection.
 */
export function postgresEngine(parameters: PostgresStoreParameters): SqlEngine {
  checkPostgresParameters(parameters)
  const { schema = 'countersign', listen } = parameters
  const name = quoteName(schema)
  const { lend, close } = lendPool(parameters)
  const listening = new Set<{ stop(): Promise<void> }>()
  const settings = `set local search_path to ${name};
    set local bytea_output to hex;
    set local idle_in_transaction_session_timeout to ${idleMilliseconds}`
  const begins = {
    read: `begin isolation level repeatable read read only; ${settings}`,
    write: `begin isolation level read committed read write; ${settings};
      set local synchronous_commit to on;
      set local lock_timeout to ${lockMilliseconds}`,
  }
  const database = watchDatabase(parameters.standbys)
  // Random name of this store, by which it recognizes and ignores the notices
  // of its own writes.
  const self = drawNonce()
  const payload = quoteText(encodeNotice(self, schema))
  const tell = `notify "${channel}", ${payload}; commit`
  return {
    dialect: postgresDialect,
    patienceMilliseconds: 10_000,
    connect: async (_, use, until) => {
      const pool = (await lend())(until)
      const dialect = new PostgresDialect({ pool })
      return new Kysely<SqlTables>({ dialect }).connection().execute(use)
    },
    begin: (session, mode, checks) =>
      database.begin(session, begins[mode], checks),
    commit: (session, isNews) => runText(session, isNews ? tell : 'commit'),
    rollback: (session) => runText(session, 'rollback').catch(ignoreError),
    assertDurable,
    lockSchema: (session) => lockSchema(session, schema),
    lockVersions: (session) =>
      runText(session, 'lock table versions in access exclusive mode'),
    hasTable: (session, table) => hasTable(session, schema, table),
    identify: database.identify,
    lock: (session, lock) => lockName(session, `${schema} ${lock}`),
    ...(listen !== undefined && {
      onChange: (listener: () => void) => {
        const heard = listenPostgres(
          { connectionString: listen, schema, self },
          listener,
        )
        listening.add(heard)
        return () => {
          listening.delete(heard)
          void heard.stop()
        }
      },
    }),
    close: async () => {
      await Promise.all([...listening].map((heard) => heard.stop()))
      await close()
    },
  }
}

/**
 * Lends connections of the given pool. If only a connection string was given,
 * creates a pool when it is first needed.
 */
function lendPool(parameters: PostgresStoreParameters) {
  type Lent = ReturnType<typeof watchPool>
  let lent: Promise<Lent> | undefined
  let closed: Promise<void> | undefined
  let free = async () => {}
  const take = async (): Promise<Lent> => {
    const pool =
      'pool' in parameters
        ? parameters.pool
        : await createPool(parameters.connectionString)
    pool.on('error', ignoreError)
    pool.on('connect', hearErrors)
    free = async () => {
      // Keeps the listener of our own pool while it closes: without a listener,
      // a lost connection would end the process.
      if (!('pool' in parameters)) return pool.end()
      pool.removeListener('error', ignoreError)
      pool.removeListener('connect', hearErrors)
    }
    return watchPool(pool)
  }
  const end = async (): Promise<void> => {
    await lent?.catch(ignoreError)
    await free()
  }
  return {
    lend: (): Promise<Lent> => {
      if (closed) throw new StoreError('is closed')
      lent ??= take()
      return lent
    },
    close: (): Promise<void> => {
      closed ??= end()
      return closed
    },
  }
}

async function createPool(connectionString: string): Promise<PostgresPool> {
  const { Pool } = await loadPostgres()
  return new Pool({
    connectionString,
    connectionTimeoutMillis: silentMilliseconds,
    ...keepAlive,
  })
}

async function assertDurable(session: SqlSession): Promise<void> {
  const asked = sql<{ fsync: string }>`select current_setting('fsync') as fsync`
  const { rows } = await asked.execute(session)
  if (rows[0]?.fsync !== 'on')
    throw new StoreError(
      `needs a server with fsync = on, and this one has ${rows[0]?.fsync}`,
    )
}

async function lockSchema(session: SqlSession, schema: string): Promise<void> {
  await lockName(session, `${schema} schema`)
  const found = await sql`
    select 1 from pg_namespace where nspname = ${schema}`.execute(session)
  // Checks first whether the schema exists: even `create schema if not exists`
  // needs the right to create schemas.
  if (found.rows.length === 0)
    await runText(session, `create schema ${quoteName(schema)}`)
}

async function hasTable(
  session: SqlSession,
  schema: string,
  table: string,
): Promise<boolean> {
  const found = await sql<{ found: string | null }>`
    select to_regclass(${`${quoteName(schema)}.${table}`})::text as found`.execute(
    session,
  )
  return Boolean(found.rows[0]?.found)
}

async function lockName(session: SqlSession, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(
    session,
  )
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
