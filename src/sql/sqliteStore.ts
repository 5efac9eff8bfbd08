import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import type { PaymentStore } from '../store/types.js'
import { sqliteEngine } from './engines/sqliteEngine.js'
import { createSqlStore } from './sqlStore.js'

/** What {@link sqliteStore} takes. */
export type SqliteStoreParameters = {
  /** Path of the database; it is made when it is not there. */
  file: string
}

const members: MembersOf<SqliteStoreParameters> = {
  file: true,
}

/**
 * Keeps orders in a file, through the package `libsql`.
 *
 * Several processes of one machine may share the file. It must lie on a disk
 * of that machine: locks of network file systems cannot be relied on.
 *
 * @example
 * ```ts
 * import { sqliteStore } from 'countersign/sql'
 *
 * const store = sqliteStore({ file: 'orders.db' })
 * await store.open()
 * ```
 */
export function sqliteStore(parameters: SqliteStoreParameters): PaymentStore {
  checkMembers(parameters, members)
  return createSqlStore(sqliteEngine(parameters))
}
