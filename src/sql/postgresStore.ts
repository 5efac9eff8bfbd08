import type { PaymentStore } from '../store/types.js'
import {
  checkPostgresParameters,
  type PostgresStoreParameters,
} from './engines/postgresParameters.js'
import { requireKysely, storeLater } from './storeLater.js'

/**
 * Creates a store in PostgreSQL, for any number of processes. Needs the
 * packages `kysely` and `pg`, which it loads when it is first used.
 *
 * Uses no session state beyond a transaction, so the pool may connect through
 * PgBouncer in transaction mode.
 *
 * @throws {@link StoreError} when neither `pool` nor `connectionString` is
 * valid.
 * @throws {@link InvalidFieldError} when `schema` is not a valid name, or
 * `standbys` is unknown.
 *
 * @example
 * ```ts
 * import { postgresStore } from 'countersign/sql'
 *
 * const connectionString = 'postgres://shop@localhost/shop'
 * const store = postgresStore({ connectionString, listen: connectionString })
 * ```
 */
export function postgresStore(
  parameters: PostgresStoreParameters,
): PaymentStore {
  checkPostgresParameters(parameters)
  // Copies the parameters, because the caller may change the object before the
  // store loads.
  const given = { ...parameters }
  const load = async (attached?: 'read' | 'write') => {
    await requireKysely()
    const { createSqlStore } = await import('./sqlStore.js')
    const { postgresEngine } = await import('./engines/postgresEngine.js')
    return createSqlStore(postgresEngine(given), undefined, attached)
  }
  return storeLater(() => load(), {
    notifies: given.listen !== undefined,
    loadAttached: load,
  })
}
