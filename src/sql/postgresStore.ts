import type { PaymentStore } from '../store/types.js'
import {
  type PostgresStoreParameters,
  postgresEngine,
} from './engines/postgresEngine.js'
import { createSqlStore } from './sqlStore.js'

/**
 * Creates a store in PostgreSQL, for any number of processes. Needs the package
 * `pg`.
 *
 * Uses no session state beyond a transaction, so the pool may connect through
 * PgBouncer in transaction mode.
 *
 * @throws {@link StoreError} when neither `pool` nor `connectionString` is
 * valid.
 * @throws {@link InvalidFieldError} when `schema` is not a valid name.
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
  return createSqlStore(postgresEngine(parameters))
}
