import type { PaymentStore } from '../store/types.js'
import {
  type PostgresStoreParameters,
  postgresEngine,
} from './engines/postgresEngine.js'
import { createSqlStore } from './sqlStore.js'

/**
 * Keeps orders in PostgreSQL, through the package `pg`, for any number of
 * processes.
 *
 * Nothing of a session outlives its transaction: the pool may lead through
 * PgBouncer in transaction mode.
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
