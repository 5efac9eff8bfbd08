import type { PostgresPool as QueryPool } from 'kysely'
import { StoreError } from '../../store/errors.js'
import { SqlFault, type SqlFaultKind } from '../tables/sqlFault.js'

/** As much of a pool of the package `pg` as is used here. */
export type PostgresPool = {
  /** Gives a connection that nobody else uses meanwhile. */
  connect(): Promise<PostgresClient>
  /** Hears of new connections, and of faults of idle ones. */
  on(event: PoolEvent, listener: (subject: object) => void): unknown
  /** Hears of them no longer. */
  removeListener(event: PoolEvent, listener: (subject: object) => void): unknown
  /** Closes every connection. */
  end(): Promise<void>
}

type PoolEvent = 'connect' | 'error'

/** As much of one of its connections. */
export type PostgresClient = {
  /** Runs one statement. */
  query(request: PostgresRequest): Promise<object>
  /** Hears of the end of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Hears of it no longer. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /**
   * Gives the connection back to its pool.
   *
   * @param destroy the connection is of no use any more.
   */
  release(destroy?: boolean): void
}

/** One statement with its values, never prepared under a name. */
export type PostgresRequest = {
  text: string
  values: unknown[]
  types: {
    /** Says how a column of that type is read. */
    getTypeParser(type: number): (text: string) => unknown
  }
}

/**
 * Loads the optional peer `pg`.
 *
 * @throws {@link StoreError} when it is missing.
 */
export async function loadPostgres(): Promise<typeof import('pg')['default']> {
  const { default: postgres } = await import('pg').catch(() => {
    throw new StoreError('needs the package pg, which is not installed')
  })
  return postgres
}

/** A machine that is gone says nothing: the system asks two hours later. */
export const keepAlive = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} as const

/** Without a listener, an event of a lost connection ends the process. */
export const ignoreError = (): void => undefined

/**
 * Listens on each new connection before anything else happens: a server can let
 * someone in and shut down in one packet.
 */
export const hearErrors = (client: object): void => {
  const { on } = Object(client)
  if (typeof on === 'function') on.call(client, 'error', ignoreError)
}

/** The pool as the query builder uses it, with faults told apart. */
export function watchPool(pool: PostgresPool): QueryPool {
  const connect = async () => {
    const client = await takeClient(pool)
    client.on('error', ignoreError)
    let isLost = false
    const query = async (text: string, values: readonly unknown[]) => {
      try {
        const request = { text, values: [...values], types }
        const answer = await client.query(request)
        // A script answers with its last statement.
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
  // The builder's type has generics and cursors nobody asks for here.
  return { connect, end: async () => undefined } as unknown as QueryPool
}

async function takeClient(pool: PostgresPool): Promise<PostgresClient> {
  try {
    const client = await pool.connect()
    if (typeof client?.release === 'function') return client
  } catch (error) {
    // The driver's own words about an address repeat the password in it.
    if (!(error instanceof TypeError)) throw explainFault(error)
  }
  throw new StoreError('cannot connect with the address or pool it was given')
}

/** Whatever parsers the pool has been given: amounts must not be rounded. */
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

/** By SQLSTATE. */
function kindOf(code: string): SqlFaultKind {
  if (code === '23505') return 'duplicate'
  // A serialization failure, a deadlock, or what nobody did in time.
  if (['40001', '40P01', '55P03', '57014'].includes(code)) return 'rolledBack'
  if (code === '53100') return 'full'
  // Shut down, starting up, too many connections, or a standby by now.
  if (/^(08|57P)|^(53300|25006|25P03|25P04)$/.test(code)) return 'lost'
  return 'refused'
}
