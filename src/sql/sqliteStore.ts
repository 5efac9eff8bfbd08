import { checkMembers } from '../core/checkMembers.js'
import type { PaymentStore } from '../store/types.js'
import { parseSqliteFile } from './engines/parseSqliteFile.js'
import { requireKysely, storeLater } from './storeLater.js'

/** Options of {@link sqliteStore}. */
export type SqliteStoreParameters = {
  /** Path of the database file. Created when it does not exist. */
  file: string
}

/**
 * Creates a store in an SQLite file. Needs the packages `kysely`
 * and `libsql`, which it loads when it is first used.
 *
 * Several processes of one machine can share the file. It must be on a local
 * disk: the locks of network file systems are not reliable.
 *
 * @throws {@link StoreError} when `file` is not the path of a file.
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
  checkMembers(parameters, ['file'])
  const file = parseSqliteFile(parameters)
  const load = async (attached?: 'read' | 'write') => {
    await requireKysely()
    const { createSqlStore } = await import('./sqlStore.js')
    const { sqliteEngine } = await import('./engines/sqliteEngine.js')
    return createSqlStore(sqliteEngine({ file, attached }), undefined, attached)
  }
  return storeLater(() => load(), { notifies: true, loadAttached: load })
}
