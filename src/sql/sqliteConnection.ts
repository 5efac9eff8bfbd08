import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import { StoreError } from '../store/errors.js'
import type { SqlSession } from './sqlEngine.js'
import { SqlFault } from './sqlFault.js'
import type { SqlTables } from './sqlTables.js'

/** As much of a connection of the package `libsql` as is used here. */
type LibsqlDatabase = {
  prepare(text: string): LibsqlStatement
  defaultSafeIntegers(toggle: boolean): unknown
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
export function connectSqlite(open: OpenLibsql, file: string): SqlSession {
  const database = explainFaults(() => open(file))
  database.defaultSafeIntegers(true)
  const dialect = new SqliteDialect({ database: rememberStatements(database) })
  return new Kysely<SqlTables>({ dialect })
}

/** Most statements are the same each time; a store has some dozen of them. */
const maxStatements = 200

function rememberStatements(database: LibsqlDatabase): SqliteDatabase {
  const statements = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    prepare: (text) => {
      const known = statements.get(text)
      if (known) return known
      const statement = explainFaults(() => database.prepare(text))
      const prepared = {
        reader: statement.reader,
        all: (values: unknown) => explainFaults(() => statement.all(values)),
        run: (values: unknown) => explainFaults(() => statement.run(values)),
        iterate: (values: unknown) =>
          explainFaults(() => statement.all(values)).values(),
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
    throw new SqlFault('refused', code)
  }
}
