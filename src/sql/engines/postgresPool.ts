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
  /** Removes such a listener. */
  removeListener(event: PoolEvent, listener: (subject: object) => void): unknown
  /** Closes every connection. */
  end(): Promise<void>
}

type PoolEvent = 'connect' | 'error'

/** The part of a connection of such a pool that the store uses. */
export type PostgresClient = {
  /** Runs one statement. */
  query(request: PostgresRequest): Promise<object>
  /** Listens for errors of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Removes such a listener. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /**
   * Returns the connection to its pool.
   *
   * @param destroy true when the connection is broken.
   */
  release(destroy?: boolean): void
}

/** One statement with its values, never prepared under a name. */
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

/** Detects a dead machine early; by default, the system takes two hours. */
export const keepAlive = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} as const

/** Without a listener, an `error` event ends the process. */
export const ignoreError = (): void => undefined

/**
 * Listens on each new connection at once: a server can accept a connection and
 * shut down in one packet.
 */
export const hearErrors = (client: object): void => {
  const { on } = Object(client)
  if (typeof on === 'function') on.call(client, 'error', ignoreError)
}

/** Adapts the pool to the query builder, and turns its errors into faults. */
export function watchPool(pool: PostgresPool): QueryPool {
  const connect = async () => {
    const client = await takeClient(pool)
    client.on('error', ignoreError)
    let isLost = false
    const query = async (text: string, values: readonly unknown[]) => {
      try {
        const request = { text, values: [...values], types }
        const answer = await client.query(request)
        // The result of a script is that of its last statement.
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
  // The builder's type has generics and cursors that are not used here.
  return { connect, end: async () => undefined } as unknown as QueryPool
}

async function takeClient(pool: PostgresPool): Promise<PostgresClient> {
  try {
    const client = await pool.connect()
    if (typeof client?.release === 'function') return client
  } catch (error) {
    // The driver's error for an invalid address shows the password in it.
    if (!(error instanceof TypeError)) throw explainFault(error)
  }
  throw new StoreError('cannot connect with the address or pool it was given')
}

/** Parsers by type, instead of the pool's own, which could round amounts. */
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

/** Classifies an SQLSTATE. */
function kindOf(code: string): SqlFaultKind {
  if (code === '23505') return 'duplicate'
  // A serialization failure, a deadlock, or a timeout.
  if (['40001', '40P01', '55P03', '57014'].includes(code)) return 'rolledBack'
  if (code === '53100') return 'full'
  // The server shuts down, starts up, has too many connections, or has become a
  // standby.
  if (/^(08|57P)|^(53300|25006|25P03|25P04)$/.test(code)) return 'lost'
  return 'refused'
}
