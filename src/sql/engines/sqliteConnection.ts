import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import { StoreError } from '../../store/errors.js'
import type { SqlSession } from '../tables/sqlEngine.js'
import { SqlFault } from '../tables/sqlFault.js'
import type { SqlTables } from '../tables/sqlTables.js'

/** As much of a connection of the package `libsql` as is used here. */
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
 * @throws {@link StoreError} when it is missing.
 */
export async function loadLibsql(): Promise<OpenLibsql> {
  const { default: Database } = await import('libsql').catch(() => {
    throw new StoreError('needs the package libsql, which is not installed')
  })
  // The package's types name less than it has.
  return (file) => new Database(file) as unknown as LibsqlDatabase
}

/** A connection of its own to a file. */
export type SqliteConnection = {
  readonly session: SqlSession
  /** A transaction is under way. */
  isInside(): boolean
}

export function connectSqlite(
  open: OpenLibsql,
  file: string,
): SqliteConnection {
  const database = explainFaults(() => open(file))
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

/** Runs one statement. */
type Run = <result>(text: string, step: () => result) => result

/**
 * Refuses what follows in a transaction that is gone: a full disk, among others,
 * takes back all of it, and each statement after that would be kept alone.
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

/** Most statements are the same each time; a store has some dozen of them. */
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

/** A boolean would end the whole process inside the engine, not the call. */
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
    const code = String(
      Reflect.get(Object(error), 'code') || 'cannot be opened',
    )
    if (/^SQLITE_(BUSY|LOCKED)/.test(code))
      throw new SqlFault('rolledBack', code)
    if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(code))
      throw new SqlFault('duplicate', code)
    if (code === 'SQLITE_FULL') throw new SqlFault('full', code)
    throw new SqlFault('refused', code)
  }
}
