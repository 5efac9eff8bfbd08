import type { PostgresPool as QueryPool } from 'kysely'
import { loadPeer, notLoaded } from '../../core/peers.js'
import { soon } from '../../core/wait.js'
import { StoreError } from '../../store/errors.js'
import { SqlFault } from '../tables/sqlFault.js'
import {
  classifyDatabaseFailure,
  type DatabaseFailure,
} from './classifyDatabaseFailure.js'

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
 * Milliseconds that a server has to let a connection in, or to answer a
 * statement. After that, the connection counts as silent, and is closed. The
 * server itself has to end a wait for a lock before that.
 */
export const silentMilliseconds = 5_000

/** Milliseconds that a statement may take if it changes a table. */
const alterMilliseconds = 600_000

/**
 * Adapts the pool to the query builder, and turns errors of the driver into
 * {@link SqlFault}. Each call of the result gives a pool that waits for a
 * connection until a time of `performance.now()`.
 *
 * Closes connections that go silent. A network can drop a connection without
 * telling either end, and a call that waits for an answer would never end.
 */
export function watchPool(pool: PostgresPool): (until?: number) => QueryPool {
  const heardAt = new WeakMap<PostgresClient, number>()
  let silentSince = Number.NEGATIVE_INFINITY
  const take = async (until: number): Promise<PostgresClient> => {
    for (;;) {
      const client = await takeClient(pool, until)
      // Connections that were idle when another one went silent are probably
      // silent too. New ones cost less than a wait for each of them.
      if ((heardAt.get(client) ?? silentSince) >= silentSince) return client
      closeAtOnce(client)
      // A pool that lends it all the same is asked no second time.
      heardAt.set(client, performance.now())
    }
  }
  const connect = async (until: number) => {
    const client = await take(until)
    client.on('error', ignoreError)
    let isLost = false
    const query = async (text: string, values: readonly unknown[]) => {
      if (isLost) throw silence()
      const asked = performance.now()
      try {
        const request = { text, values: [...values], types }
        const answer = await answerIn(limitOf(text), client.query(request))
        heardAt.set(client, performance.now())
        // A script of several statements has several results: the last one
        // counts.
        return Array.isArray(answer) ? answer.at(-1) : answer
      } catch (error) {
        const during = text.startsWith('begin') ? 'begin' : 'statement'
        const fault = explainFault(error, during)
        isLost ||= fault.kind === 'lost'
        if (fault.code === noAnswer) silentSince = Math.max(silentSince, asked)
        throw fault
      }
    }
    const release = () => {
      client.removeListener('error', ignoreError)
      giveBack(client, isLost)
    }
    return { query, release }
  }
  // The type of the builder also demands cursors and generics, which are not
  // used here.
  return (until = performance.now() + silentMilliseconds) =>
    ({
      connect: () => connect(until),
      end: async () => undefined,
    }) as unknown as QueryPool
}

async function takeClient(
  pool: PostgresPool,
  until: number,
): Promise<PostgresClient> {
  const rest = Math.max(0, until - performance.now())
  const taking = (async () => pool.connect())()
  try {
    const client = await answerIn(Math.min(rest, silentMilliseconds), taking)
    if (typeof client?.release === 'function') return client
  } catch (error) {
    // Gives back a connection that comes too late.
    if (isSilence(error))
      taking.then((client) => giveBack(client, false)).catch(ignoreError)
    // Replaces the driver's error for an invalid address, because its message
    // contains the password.
    if (!(error instanceof TypeError)) throw explainFault(error, 'connect')
  }
  throw new StoreError('cannot connect with the address or pool it was given')
}

/**
 * Destroys a connection. The driver waits for the server when it closes an idle
 * one, but not when it closes one that waits for an answer.
 */
function closeAtOnce(client: PostgresClient): void {
  client.on('error', ignoreError)
  client.query({ text: '', values: [], types }).catch(ignoreError)
  giveBack(client, true)
}

/** Gives a connection back to its pool. */
function giveBack(client: PostgresClient, isLost: boolean): void {
  try {
    client.release(isLost)
  } catch {
    // The transaction is over: an error of the pool says nothing about what the
    // database has kept.
  }
}

function limitOf(text: string): number {
  return /^(create|alter|drop) /.test(text)
    ? alterMilliseconds
    : silentMilliseconds
}

/** The code of the fault when a server says nothing. */
const noAnswer = 'no answer'

function silence(): SqlFault {
  return new SqlFault('lost', noAnswer)
}

function isSilence(error: unknown): boolean {
  return error instanceof SqlFault && error.code === noAnswer
}

/** @throws {@link SqlFault} when the time is over. */
export function answerIn<answer>(
  milliseconds: number,
  work: Promise<answer>,
): Promise<answer> {
  return new Promise((resolve, reject) => {
    // Reads what has arrived before it gives up: a process that was stopped
    // finds its timers due before it reads.
    const giveUp = () => soon(() => reject(silence()))
    const timer = setTimeout(giveUp, milliseconds)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
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

function explainFault(
  error: unknown,
  during: DatabaseFailure['during'],
): SqlFault {
  if (error instanceof SqlFault) return error
  const { code, severity, message } = Object(error)
  const text = typeof code === 'string' ? code : 'connection ended'
  const words = String(message)
  const isOfDatabase = Boolean(severity)
  const isOver = /FATAL|PANIC/.test(severity)
  const failure = { code: text, words, isOfDatabase, isOver, during }
  const kind = classifyDatabaseFailure(failure)
  const isShown = during === 'connect' && (isOfDatabase || kind === 'refused')
  return new SqlFault(kind, text, isShown ? words : undefined)
}
