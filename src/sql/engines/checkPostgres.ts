import { Buffer } from 'node:buffer'
import { InvalidFieldError } from '../../core/errors.js'
import { StoreError } from '../../store/errors.js'

/**
 * Refuses what the driver would take for something else: without a connection
 * string it goes to whatever server this machine has.
 */
export function checkPostgres(parameters: unknown): void {
  const { pool, connectionString, schema, listen } = Object(parameters)
  const isThere = pool === undefined ? isText(connectionString) : isPool(pool)
  if (!isThere)
    throw new StoreError('needs a connection string, or a pool of pg')
  if (listen !== undefined && !isText(listen))
    throw new StoreError('needs a connection string to listen')
  if (schema !== undefined && !isSchema(schema))
    throw new InvalidFieldError('schema', schema, names)
}

const names = 'a name of 1 to 63 bytes that is not one of the server'

/** A longer name would be cut, and be that of another shop. */
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
