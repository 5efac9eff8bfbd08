import { Buffer } from 'node:buffer'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { StoreError } from '../../store/errors.js'
import type { PostgresPool } from './postgresPool.js'

/** Connection and schema of a PostgreSQL store. */
export type PostgresStoreParameters = (
  | {
      /**
       * A pool of the package `pg`. `close` of the store leaves this pool open.
       */
      pool: PostgresPool
    }
  | {
      /**
       * Address of the database. The store creates a pool for it, and `close`
       * ends the pool.
       */
      connectionString: string
    }
) & {
  /** Schema of the tables, created if needed. Default: `countersign`. */
  schema?: string | undefined
  /**
   * Connection string of the server itself, not of PgBouncer. With it, the
   * store learns at once that another process wrote. Without it, workers only
   * poll.
   */
  listen?: string | undefined
}

/**
 * Refuses wrong parameters before the driver sees them: without a connection
 * string, the driver would connect to a default server on this machine.
 *
 * @throws {@link StoreError} when neither `pool` nor `connectionString` is
 * valid.
 * @throws {@link InvalidFieldError} when `schema` is not a valid name.
 */
export function checkPostgresParameters(
  parameters: PostgresStoreParameters,
): void {
  checkMembers(parameters, ['pool', 'connectionString', 'schema', 'listen'])
  const { pool, connectionString, schema, listen } = Object(parameters)
  const isThere = pool === undefined ? isText(connectionString) : isPool(pool)
  if (!isThere)
    throw new StoreError('needs a connection string, or a pool of pg')
  if (listen !== undefined && !isText(listen))
    throw new StoreError('needs a connection string to listen')
  if (schema !== undefined && !isSchema(schema))
    throw new InvalidFieldError('schema', shown(schema), names)
}

const names =
  'a name of 1 to 63 bytes that the server does not reserve, as it does pg_…'

/**
 * PostgreSQL cuts a name after 63 bytes. Two longer names could then mean the
 * same schema, and two shops would share it.
 */
function isSchema(name: unknown): boolean {
  if (!isText(name) || name.includes('\0')) return false
  return Buffer.byteLength(name) < 64 && !/^(pg_|\$user$)/.test(name)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isPool(pool: unknown): boolean {
  return ['connect', 'on', 'removeListener', 'end'].every(
    (name) => typeof Object(pool)[name] === 'function',
  )
}
