import type { Kysely, RawBuilder } from 'kysely'
import type { ColumnKind } from './sqlColumns.js'
import type { SqlTables } from './sqlTables.js'

/** One connection, for as long as it is lent. */
export type SqlSession = Kysely<SqlTables>

/** How an engine says what every engine can do. */
export type SqlDialect = {
  /** What its columns are made of. */
  readonly types: {
    readonly text: string
    /** Text in the order of its bytes. */
    readonly id: string
    readonly integer: string
    readonly amount: string
    readonly bytes: string
    readonly boolean: string
    /** A key that counts up by itself. */
    readonly position: string
    /** What a table ends with. */
    readonly end: string
  }
  /** Unix milliseconds of the database's clock, at the time of asking. */
  readonly clock: string
  /** A number no fence of a lease that is gone has reached. */
  readonly newFence: string
  /** Where that is read from, by one after the other who name the same. */
  turn(name: string): RawBuilder<unknown>
  /** It comes from a counter of those fences, which has to be kept. */
  readonly countsFences: boolean
  /** Readers see only what writers wait for each other to write. */
  readonly locksRows: boolean
  /** A member of a row, out of the row's JSON `value`. */
  cell(kind: ColumnKind, index: number): string
  /** The rows that one JSON parameter carries, in their order. */
  rows(json: string): RawBuilder<unknown>
  /** Whether a column holds one of these. */
  among(
    column: string,
    kind: 'text' | 'bytes',
    values: readonly string[],
  ): RawBuilder<boolean>
}

/** A database that keeps orders. */
export type SqlEngine = {
  readonly dialect: SqlDialect
  /** For how long work that may run again is run again. */
  readonly patienceMilliseconds: number
  /** Looks whether the database keeps what it is told, before it is used. */
  assertDurable(session: SqlSession): Promise<void>
  /**
   * Makes room for the tables, alone until the end of the unit of work, and
   * says whether some are there.
   */
  lockSchema(session: SqlSession): Promise<boolean>
  /** Names the physical database, once its tables are there. */
  identify(session: SqlSession): Promise<string>
  /** Lends a connection nobody else uses meanwhile. */
  connect<result>(
    mode: 'read' | 'write',
    use: (session: SqlSession) => Promise<result>,
  ): Promise<result>
  begin(session: SqlSession, mode: 'read' | 'write'): Promise<void>
  /** @param changed whether others may want to look. */
  commit(session: SqlSession, changed: boolean): Promise<void>
  /** Never fails: what cannot be taken back here ends with the connection. */
  rollback(session: SqlSession): Promise<void>
  lock(session: SqlSession, name: string): Promise<void>
  onChange?(listener: () => void): () => void
  close(): Promise<void>
}

/** The statements that lead from one version of the schema to the next. */
export type Migration = (types: SqlDialect['types']) => readonly string[]
