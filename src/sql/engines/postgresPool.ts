import type { PostgresPool as QueryPool } from 'kysely'
import { loadPeer, notLoaded } from '../../core/peers.js'
import { StoreError } from '../../store/errors.js'
import { SqlFault, type SqlFaultKind } from '../tables/sqlFault.js'

/** The part of a pool of the package `pg` that the store uses. */
export type PostgresPool = {
  /** Lends a connection that nobody else uses at the same time. */
  connect(): Promise<PostgresClient>
  /** Listens for new connections, or for errors of idle ones. */
  on(event: PoolEvent, listener: (subject: object) => void): unknown
  /** Removes a listener that `on` added. */
  removeListener(event: PoolEvent, listener: (subject: object) => void): unknown
  /** Closes every connection. */
  end(): Promise<void>
}

type PoolEvent = 'connect' | 'error'

/** The part of a connection of the package `pg` that the store uses. */
export type PostgresClient = {
  /** Runs one statement. */
  query(request: PostgresRequest): Promise<object>
  /** Listens for errors of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Removes a listener that `on` added. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /**
   * Returns the connection to its pool.
   *
   * @param destroy true when the connection is broken.
   */
  release(destroy?: boolean): void
}

/**
 * One statement with its values. It has no name, so the server does not keep it
 * prepared: behind a pooler, another connection would not know it.
 */
export type PostgresRequest = {
  text: string
  values: unknown[]
  types: {
    /** Returns the function that parses columns of a type. */
    getTypeParser(type: number): (text: string) => unknown
  }
}

/**
 * Loads the optional peer `pg`.
 *
 * @throws {@link StoreError} when it is missing or too old.
 */
export async function loadPostgres(): Promise<typeof import('pg')['default']> {
  const { default: postgres } = await loadPeer(
    { name: 'pg', from: '8.0.0' },
    import('pg').catch(notLoaded),
    (problem) => new StoreError(problem),
  )
  return postgres
}

/**
 * Asks the system to check idle connections early. By default, it notices a
 * dead machine only after two hours.
 */
export const keepAlive = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} as const

/** Listens to `error` events, because Node ends the process if nobody does. */
export const ignoreError = (): void => undefined

/**
 * Adds an error listener to each new connection at once. A server can accept a
 * connection and close it in the same packet.
 */
export const hearErrors = (client: object): void => {
  const { on } = Object(client)
  if (typeof on === 'function') on.call(client, 'error', ignoreError)
}

/**
 * Adapts the pool to the query builder, and turns errors of the driver into
 * {@link SqlFault}.
 */
export function watchPool(pool: PostgresPool): QueryPool {
  const connect = async () => {
    const client = await takeClient(pool)
    client.on('error', ignoreError)
    let isLost = false
    const query = async (text: string, values: readonly unknown[]) => {
      try {
        const request = { text, values: [...values], types }
        const answer = await client.query(request)
        // A script of several statements has several results: the last one
        // counts.
        return Array.isArray(answer) ? answer.at(-1) : answer
      } catch (error) {
        const fault = explainFault(error)
        isLost ||= fault.kind === 'lost'
        throw fault
      }
    }
    const release = () => {
      client.removeListener('error', ignoreError)
      client.release(isLost)
    }
    return { query, release }
  }
  // The type of the builder also demands cursors and generics, which are not
  // used here.
  return { connect, end: async () => undefined } as unknown as QueryPool
}

async function takeClient(pool: PostgresPool): Promise<PostgresClient> {
  try {
    const client = await pool.connect()
    if (typeof client?.release === 'function') return client
  } catch (error) {
    // Replaces the driver's error for an invalid address, because its message
    // contains the password.
    if (!(error instanceof TypeError)) throw explainFault(error)
  }
  throw new StoreError('cannot connect with the address or pool it was given')
}

/**
 * Parses columns by their type. The pool's own parsers could round amounts to a
 * `number`.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  [17, (text) => `0x${text.slice(2)}`],
  [20, BigInt],
  [1700, BigInt],
])

const types: PostgresRequest['types'] = {
  getTypeParser: (type) => parsers.get(type) ?? ((text) => text),
}

function explainFault(error: unknown): SqlFault {
  const { code, severity } = Object(error)
  const text = typeof code === 'string' ? code : 'connection ended'
  return new SqlFault(severity ? kindOf(text) : 'lost', text)
}

/** Tells what an SQLSTATE code of PostgreSQL means for the transaction. */
function kindOf(code: string): SqlFaultKind {
  if (code === '23505') return 'duplicate'
  // A serialization failure, a deadlock, or a timeout.
  if (['40001', '40P01', '55P03', '57014'].includes(code)) return 'rolledBack'
  if (code === '53100') return 'full'
  // The server is shutting down or starting up, has too many connections, or
  // has become a read-only standby.
  if (/^(08|57P)|^(53300|25006|25P03|25P04)$/.test(code)) return 'lost'
  return 'refused'
}
