import { Buffer } from 'node:buffer'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { StoreError } from '../../store/errors.js'
import type { PostgresPool } from './postgresPool.js'

/** Connection and schema of a PostgreSQL store. */
export type PostgresStoreParameters = (
  | {
      /** A pool of the package `pg`. The store does not close it: you do. */
      pool: PostgresPool
    }
  | {
      /** The store creates a pool of its own for this address. */
      connectionString: string
    }
) & {
  /** Schema of the tables, created if needed. Default: `countersign`. */
  schema?: string | undefined
  /**
   * Connection string of the server itself, not of PgBouncer. With it, the
   * store learns at once that another process wrote.
   */
  listen?: string | undefined
}

const members: MembersOf<PostgresStoreParameters> = {
  pool: true,
  connectionString: true,
  schema: true,
  listen: true,
}

/**
 * Refuses wrong parameters, which the driver would misread: without a
 * connection string, it connects to the default server of this machine.
 *
 * @throws {@link StoreError} when neither `pool` nor `connectionString` is
 * valid.
 * @throws {@link InvalidFieldError} when `schema` is not a valid name.
 */
export function checkPostgresParameters(
  parameters: PostgresStoreParameters,
): void {
  checkMembers(parameters, members)
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
 * PostgreSQL cuts off a longer name. The rest could be another shop's schema.
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
