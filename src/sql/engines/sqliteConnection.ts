import { Kysely, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import { loadPeer, notLoaded } from '../../core/peers.js'
import { StoreError } from '../../store/errors.js'
import type { SqlSession } from '../tables/sqlEngine.js'
import { SqlFault } from '../tables/sqlFault.js'
import type { SqlTables } from '../tables/sqlTables.js'
import { classifyDatabaseFailure } from './classifyDatabaseFailure.js'

/** The members of a connection of the package `libsql` that we use. */
type LibsqlDatabase = {
  prepare(text: string): LibsqlStatement
  defaultSafeIntegers(toggle: boolean): unknown
  readonly inTransaction: boolean
  close(): void
}

type LibsqlStatement = {
  readonly reader: boolean
  all(parameters: unknown): unknown[]
  run(parameters: unknown): {
    changes: number
    lastInsertRowid: number | bigint
  }
}

export type OpenLibsql = (file: string) => LibsqlDatabase

/**
 * Loads the optional peer `libsql`.
 *
 * @throws {@link StoreError} when it is missing or too old.
 */
export async function loadLibsql(): Promise<OpenLibsql> {
  const { default: Database } = await loadPeer(
    { name: 'libsql', from: '0.5.0' },
    import('libsql').catch(notLoaded),
    (problem) => new StoreError(problem),
  )
  // The cast is needed because the types of the package are incomplete.
  return (file) => new Database(file) as unknown as LibsqlDatabase
}

export type SqliteConnection = {
  readonly session: SqlSession
  /** True inside a transaction. */
  isInside(): boolean
}

export function connectSqlite(
  open: OpenLibsql,
  file: string,
): SqliteConnection {
  const database = openFile(open, file)
  database.defaultSafeIntegers(true)
  const run = runInside(database)
  const dialect = new SqliteDialect({
    database: rememberStatements(database, run),
  })
  return {
    session: new Kysely<SqlTables>({ dialect }),
    isInside: () => database.inTransaction,
  }
}

/** Returns the number that a statement finds; 0 if it finds nothing. */
export async function loadNumber(
  session: SqlSession,
  text: string,
): Promise<bigint> {
  const { rows } = await sql.raw<object>(text).execute(session)
  const [value] = Object.values(rows[0] ?? {})
  return BigInt(String(value ?? 0))
}

/** @throws {@link StoreError} when the file cannot be opened. */
function openFile(open: OpenLibsql, file: string): LibsqlDatabase {
  try {
    return open(file)
  } catch (error) {
    // An error without an SQLite code comes from the package: it did not reach
    // the file.
    if (Object(error).code) throw faultOf(error)
    throw new StoreError(
      `cannot open the file ${JSON.stringify(file)}: check that its folder exists and that this process may write there`,
    )
  }
}

type Run = <result>(text: string, step: () => result) => result

/**
 * Refuses further statements after SQLite has ended a transaction by itself,
 * for example because the disk is full. SQLite would otherwise commit each
 * later statement by itself.
 */
function runInside(database: LibsqlDatabase): Run {
  let isInside = false
  let isGone = false
  return (text, step) => {
    if (text === 'rollback') [isInside, isGone] = [false, false]
    if (isGone) throw new SqlFault('refused', 'SQLITE_ABORT')
    try {
      const result = explainFaults(step)
      if (text.startsWith('begin')) isInside = true
      if (text === 'commit') isInside = false
      return result
    } catch (error) {
      isGone = isInside && !database.inTransaction
      throw error
    }
  }
}

/**
 * Most prepared statements to cache. A store uses only a few dozen different
 * ones.
 */
const maxStatements = 200

function rememberStatements(
  database: LibsqlDatabase,
  run: Run,
): SqliteDatabase {
  const statements = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    prepare: (text) => {
      const known = statements.get(text)
      if (known) return known
      const statement = explainFaults(() => database.prepare(text))
      const all = (values: unknown) =>
        run(text, () => statement.all(checkValues(values)))
      const prepared = {
        reader: statement.reader,
        all,
        run: (values: unknown) =>
          run(text, () => statement.run(checkValues(values))),
        iterate: (values: unknown) => all(values).values(),
      }
      if (statements.size >= maxStatements) statements.clear()
      statements.set(text, prepared)
      return prepared
    },
    close: () => {
      statements.clear()
      database.close()
    },
  }
}

/**
 * Refuses booleans, because they crash the package `libsql` and with it the
 * process.
 */
function checkValues(values: unknown): unknown {
  const all = Array.isArray(values) ? values : []
  if (all.some((value) => typeof value === 'boolean'))
    throw new SqlFault('refused', 'SQLITE_MISMATCH')
  return values
}

function explainFaults<result>(run: () => result): result {
  try {
    return run()
  } catch (error) {
    throw faultOf(error)
  }
}

function faultOf(error: unknown): SqlFault {
  const code = String(Object(error).code || 'no code')
  const words = String(Object(error).message)
  const failure = { code, words, isOfDatabase: true } as const
  return new SqlFault(
    classifyDatabaseFailure({ ...failure, during: 'statement' }),
    code,
  )
}
