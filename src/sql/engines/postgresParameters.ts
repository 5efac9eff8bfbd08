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
  /**
   * `'synchronous'` promises that a standby is promoted only if it has every
   * confirmed write, as under Patroni's `synchronous_mode`. A promoted standby is
   * then the same database, and all processes go on by themselves. Otherwise it
   * counts as a restored backup. Leave this out at the first start after a
   * restore, which is not noticed with it. When you set or remove it, the
   * database counts as a restored backup once.
   */
  standbys?: 'synchronous' | undefined
}

/**
 * Refuses wrong parameters before the driver sees them: without a connection
 * string, the driver would connect to a default server on this machine.
 *
 * @throws {@link StoreError} when neither `pool` nor `connectionString` is
 * valid.
 * @throws {@link InvalidFieldError} when `schema` is not a valid name, or
 * `standbys` is unknown.
 */
export function checkPostgresParameters(
  parameters: PostgresStoreParameters,
): void {
  checkMembers(parameters, [
    'pool',
    'connectionString',
    'schema',
    'listen',
    'standbys',
  ])
  const { pool, connectionString, schema, listen, standbys } =
    Object(parameters)
  const isThere = pool === undefined ? isText(connectionString) : isPool(pool)
  if (!isThere)
    throw new StoreError('needs a connection string, or a pool of pg')
  if (listen !== undefined && !isText(listen))
    throw new StoreError('needs a connection string to listen')
  if (schema !== undefined && !isSchema(schema))
    throw new InvalidFieldError('schema', shown(schema), names)
  if (standbys !== undefined && standbys !== 'synchronous')
    throw new InvalidFieldError('standbys', shown(standbys), `'synchronous'`)
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
