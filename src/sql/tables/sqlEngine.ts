import type { Kysely, RawBuilder } from 'kysely'
import type { ColumnKind } from './sqlColumns.js'
import type { SqlTables } from './sqlTables.js'

/** One connection, lent for one unit of work. */
export type SqlSession = Kysely<SqlTables>

/** A list of values as one parameter: JSON, or an array of the driver. */
export type SqlList = string | readonly (string | Uint8Array)[]

/** SQL that differs between the engines. */
export type SqlDialect = {
  /** Types of columns. */
  readonly types: {
    readonly text: string
    /** Text that sorts by its bytes. */
    readonly id: string
    readonly integer: string
    readonly amount: string
    readonly bytes: string
    readonly boolean: string
    /** A primary key that counts up by itself. */
    readonly position: string
    /** The end of a `create table` statement. */
    readonly end: string
  }
  /** Expression: Unix milliseconds of the database's clock, now. */
  readonly clock: string
  /** Expression: a number above the fences of all deleted leases. */
  readonly newFence: string
  /**
   * The `from` clause for `newFence`. Locks `name` until the end of the
   * transaction if writers run in parallel.
   */
  turn(name: string): RawBuilder<unknown>
  /** True when `newFence` reads a counter that must be updated. */
  readonly countsFences: boolean
  /** True when writers run in parallel and have to lock rows. */
  readonly locksRows: boolean
  /** Expression: one cell of the row in the JSON `value`. */
  cell(kind: ColumnKind, index: number): string
  /**
   * Expression: the text of a column before its first space; empty without one.
   */
  textBeforeSpace(column: string): string
  /** The rows of one JSON parameter, in their order. */
  rows(json: RawBuilder<string>): RawBuilder<unknown>
  /** The condition that a column has one of the values of a list. */
  among(
    column: string,
    kind: 'text' | 'bytes',
    list: SqlList | RawBuilder<SqlList>,
  ): RawBuilder<boolean>
  /** Packs values into the one parameter that `among` takes. */
  listOf(kind: 'text' | 'bytes', values: readonly string[]): SqlList
}

/** A kind of database. */
export type SqlEngine = {
  readonly dialect: SqlDialect
  /** Milliseconds during which to repeat work that may run again. */
  readonly patienceMilliseconds: number
  /** @throws {@link StoreError} when the database does not make writes durable. */
  assertDurable(session: SqlSession): Promise<void>
  /**
   * Locks the schema until the end of the unit of work, and creates it if it
   * does not exist. Returns true when the schema has tables.
   */
  lockSchema(session: SqlSession): Promise<boolean>
  /** True when there are tables. Writes and locks nothing. */
  hasTables(session: SqlSession): Promise<boolean>
  /** Returns the identity of the physical database. Needs the tables. */
  identify(session: SqlSession): Promise<string>
  /** Lends a connection that nobody else uses at the same time. */
  connect<result>(
    mode: 'read' | 'write',
    use: (session: SqlSession) => Promise<result>,
  ): Promise<result>
  /**
   * Lends a connection for statements each of which is a unit of work by
   * itself. Absent where a statement outside of a transaction is not durable,
   * or not in the right schema.
   */
  writeAlone?<result>(
    use: (session: SqlSession) => Promise<result>,
  ): Promise<result>
  begin(session: SqlSession, mode: 'read' | 'write'): Promise<void>
  /** @param isNews true to notify other processes. */
  commit(session: SqlSession, isNews: boolean): Promise<void>
  /** Never fails. Closes the connection if it cannot roll back. */
  rollback(session: SqlSession): Promise<void>
  lock(session: SqlSession, name: string): Promise<void>
  /** Calls `listener` when another process may have written. */
  onChange?(listener: () => void): () => void
  close(): Promise<void>
}

/** Returns the statements from one version of the schema to the next. */
export type Migration = (types: SqlDialect['types']) => readonly string[]
