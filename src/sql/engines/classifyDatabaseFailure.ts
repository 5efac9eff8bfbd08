import type { SqlFaultKind } from '../tables/sqlFault.js'

/** What is known about an error of a database or of its driver. */
export type DatabaseFailure = {
  /**
   * SQLSTATE of PostgreSQL, code of SQLite, or code of the driver, Node or
   * OpenSSL.
   */
  code: string
  /** The error text. */
  words: string
  /** True if the database sent the error, false if the driver raised it. */
  isOfDatabase: boolean
  /** True if the error ended the session, as those of severity `FATAL` do. */
  isOver?: boolean | undefined
  /** What was asked. */
  during: 'connect' | 'begin' | 'statement'
}

/** A row applies to a failure if the failure meets all of its conditions. */
type Row = readonly [
  SqlFaultKind,
  {
    codes?: RegExp
    words?: RegExp
    during?: DatabaseFailure['during']
    isOver?: true
    isOfDatabase?: boolean
  },
]

/** The first row that applies decides whether a failure is temporary. */
const rows: readonly Row[] = [
  // PostgreSQL, appendix "Error Codes": a row exists already.
  ['duplicate', { codes: /^23505$/ }],
  // Serialization failure, deadlock, `lock_timeout`, `statement_timeout`.
  ['rolledBack', { codes: /^(40001|40P01|55P03|57014)$/ }],
  ['full', { codes: /^53100$/ }],
  // Input or output failed.
  ['disk', { codes: /^58030$/ }],
  // PgBouncer has one code for all its refusals. Those with these words stay
  // until a setting changes. Others are temporary, for example that PgBouncer
  // cannot reach its server: a later row has them.
  [
    'refused',
    {
      codes: /^08P01$/,
      during: 'connect',
      words:
        /unsupported startup parameter|no such (database|user)|auth(entication)? failed|not allowed|SSL required/i,
    },
  ],
  // The connection failed; the server shuts down, starts, ended an idle
  // session, or lacks memory or connections; it is a read-only standby.
  ['lost', { codes: /^(08|57P|53[023]00|25006$|25P0[34]$|40003$)/ }],
  // A standby in recovery to `begin read write`.
  ['lost', { codes: /^0A000$/, during: 'begin' }],
  // Supavisor and other poolers: no free connection, or no server.
  ['lost', { codes: /^XX000$/, during: 'connect' }],
  // The server or a pooler ended a session in the middle.
  ['lost', { isOver: true, during: 'begin' }],
  ['lost', { isOver: true, during: 'statement' }],

  // SQLite, "Result and Error Codes": another connection writes, or changed the
  // tables; no memory.
  ['rolledBack', { codes: /^SQLITE_(BUSY|LOCKED|PROTOCOL|SCHEMA|NOMEM)/ }],
  ['duplicate', { codes: /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/ }],
  ['full', { codes: /^SQLITE_FULL/ }],
  ['disk', { codes: /^SQLITE_IOERR/ }],

  // Everything else that a database says: read-only or damaged files, missing
  // rights, wrong passwords, wrong statements.
  ['refused', { isOfDatabase: true }],

  // OpenSSL and Node: the certificate is wrong.
  ['refused', { codes: /CERT|^(ERR_TLS|ERR_SSL|UNABLE_TO_)/ }],
  // The package pg: wrong settings, or a pool that was ended.
  [
    'refused',
    {
      words: /does not support SSL|SASL|password must be|after calling end/i,
    },
  ],
  // All other errors of a driver are about the connection.
  ['lost', {}],
]

/** Decides what a failure means for the transaction, from one table. */
export function classifyDatabaseFailure(
  failure: DatabaseFailure,
): SqlFaultKind {
  const { code, words, during, isOver = false, isOfDatabase } = failure
  const found = rows.find(
    ([, row]) =>
      (!row.codes || row.codes.test(code)) &&
      (!row.words || row.words.test(words)) &&
      (!row.during || row.during === during) &&
      (!row.isOver || isOver) &&
      (row.isOfDatabase === undefined || row.isOfDatabase === isOfDatabase),
  )
  return found?.[0] ?? 'refused'
}
