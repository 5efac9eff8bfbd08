import type { Kysely, RawBuilder } from 'kysely'
import type { ColumnKind } from './sqlColumns.js'
import type { Side, SqlTables } from './sqlTables.js'

/** One database connection, lent for one transaction of the store. */
export type SqlSession = Kysely<SqlTables>

/**
 * A list of values in one parameter: JSON text for SQLite, an array for
 * PostgreSQL.
 */
export type SqlList = string | readonly (string | Uint8Array)[]

/** The SQL that differs between SQLite and PostgreSQL. */
export type SqlDialect = {
  /** SQL types of columns, by what they hold. */
  readonly types: {
    readonly text: string
    /** SQL type of text that sorts by its bytes, in every locale. */
    readonly id: string
    readonly integer: string
    readonly amount: string
    readonly bytes: string
    readonly boolean: string
    /** A primary key that the database counts up by itself. */
    readonly position: string
    /** The end of a `create table` statement. */
    readonly end: string
  }
  /** SQL expression: the time of the database's clock in Unix milliseconds. */
  readonly clock: string
  /** SQL expression: a number above the fences of all deleted leases. */
  readonly newFence: string
  /**
   * Returns the `from` clause of a statement with `newFence`. Where writers run
   * in parallel, it also locks `name` until the end of the transaction.
   */
  turn(name: string): RawBuilder<unknown>
  /**
   * True when `newFence` reads a counter, which deleting a lease must raise.
   */
  readonly countsFences: boolean
  /**
   * True when transactions write in parallel, so that they have to lock rows.
   */
  readonly locksRows: boolean
  /** Most destinations that a statement names. */
  readonly mostNamed: number
  /** Most queries in one `union`. */
  readonly mostUnited: number
  /** Most characters of rows that one parameter carries as JSON. */
  readonly mostJson: number
  /**
   * SQL expression: one member of a row, out of a JSON array called `value`.
   */
  cell(kind: ColumnKind, index: number): string
  /**
   * SQL expression: the text of a column before its first space; empty text if
   * there is no space.
   */
  textBeforeSpace(column: string): string
  /**
   * SQL expression: the rows of one JSON parameter, in their order; only those
   * that meet a condition, if one is given.
   */
  rows(json: RawBuilder<string>, condition?: string): RawBuilder<unknown>
  /** SQL condition: the column has one of the values of a list. */
  among(
    column: string,
    kind: 'text' | 'bytes',
    list: SqlList | RawBuilder<SqlList>,
  ): RawBuilder<boolean>
  /** Packs values into the one parameter that `among` takes. */
  listOf(kind: 'text' | 'bytes', values: readonly string[]): SqlList
}

/** What to ask the database as a transaction begins. */
export type BeginChecks = {
  /**
   * Newest version of the tables that this release may write to; absent to
   * check no version.
   */
  known?: number | undefined
  /**
   * True to ask whether the archive has orders, so that queries leave out an
   * empty one. Only for transactions in which all queries see the same state:
   * otherwise an order could be archived after the question.
   */
  asksArchive?: boolean | undefined
}

/** What a store needs of a kind of database: SQLite or PostgreSQL. */
export type SqlEngine = {
  readonly dialect: SqlDialect
  /**
   * Milliseconds for which to repeat a transaction that the database rolled
   * back.
   */
  readonly patienceMilliseconds: number
  /**
   * @throws {@link StoreError} when the database can lose a committed write.
   */
  assertDurable(session: SqlSession): Promise<void>
  /**
   * Locks the schema until the end of the transaction, and creates it if it
   * does not exist.
   */
  lockSchema(session: SqlSession): Promise<void>
  /**
   * Waits for all transactions that checked the version of the tables, and
   * holds off others, until the end of this one.
   */
  lockVersions(session: SqlSession): Promise<void>
  /** True when the table exists. Writes nothing and locks nothing. */
  hasTable(session: SqlSession, table: string): Promise<boolean>
  /** Returns the identity of the physical database. The tables must exist. */
  identify(session: SqlSession): Promise<string>
  /**
   * Lends a connection that nobody else uses at the same time.
   *
   * @param until time of `performance.now()` until which to wait for one.
   */
  connect<result>(
    mode: 'read' | 'write',
    use: (session: SqlSession) => Promise<result>,
    until?: number,
  ): Promise<result>
  /**
   * Lends a connection for statements that need no transaction around them.
   * Absent where such a statement would not be durable, or would not find the
   * schema.
   */
  writeAlone?<result>(
    use: (session: SqlSession) => Promise<result>,
  ): Promise<result>
  /**
   * Begins a transaction. Returns the sides on which its queries must search.
   *
   * @throws {@link StoreError} when the tables are of a newer version.
   */
  begin(
    session: SqlSession,
    mode: 'read' | 'write',
    checks: BeginChecks,
  ): Promise<readonly Side[]>
  /** @param isNews true to notify other processes of the write. */
  commit(session: SqlSession, isNews: boolean): Promise<void>
  /**
   * Rolls back the transaction. Never throws: closes the connection if it
   * cannot roll back.
   */
  rollback(session: SqlSession): Promise<void>
  lock(session: SqlSession, name: string): Promise<void>
  /** Calls `listener` when another process may have written events. */
  onChange?(listener: () => void): () => void
  close(): Promise<void>
}

/**
 * Returns the statements that bring the tables from one version to the next.
 */
export type Migration = (types: SqlDialect['types']) => readonly string[]
