import { growingPause } from '../../core/keepTrying.js'
import {
  answerIn,
  ignoreError,
  keepAlive,
  loadPostgres,
  silentMilliseconds,
} from './postgresPool.js'

/** The `notify` channel on which all stores of a database report writes. */
export const channel = 'countersign'

/**
 * Returns the text that a store sends on the channel after a write to its
 * schema.
 *
 * @param writer name of the store, without spaces.
 */
export function encodeNotice(writer: string, schema: string): string {
  return `${writer} ${schema}`
}

const pauses = { shortest: 100, longest: 5_000 }

/**
 * Milliseconds between two questions whether the server is still there. A
 * connection that only listens does not notice that it went silent.
 */
const askEvery = silentMilliseconds - 1_000

/**
 * Calls `listener` when another store has written to a schema. Uses its own
 * connection, and reconnects when the connection is lost.
 *
 * Also calls `listener` after each reconnection, because writes during the loss
 * were not reported.
 */
export function listenPostgres(
  {
    connectionString,
    schema,
    self,
  }: {
    connectionString: string
    schema: string
    /** Name of the store whose own writes are not reported. */
    self?: string | undefined
  },
  listener: () => void,
): { stop(): Promise<void> } {
  let end: (() => Promise<void>) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  let failures = 0

  const connect = async () => {
    const { Client } = await loadPostgres()
    if (isStopped) return
    const client = new Client({
      connectionString,
      connectionTimeoutMillis: silentMilliseconds,
      ...keepAlive,
    })
    let asking: ReturnType<typeof setInterval> | undefined
    let isAsking = false
    const ask = async (text: string) => {
      isAsking = true
      await answerIn(silentMilliseconds, client.query(text))
      isAsking = false
    }
    const close = () => {
      // The driver waits for the server when it closes an idle connection, but
      // not when it closes one that waits for an answer.
      if (!isAsking) client.query('').catch(ignoreError)
      return client.end()
    }
    end = close
    client.on('error', ignoreError)
    client.on('end', () => {
      clearInterval(asking)
      connectLater()
    })
    client.on('notification', ({ payload }) => {
      const [writer, ...words] = String(payload).split(' ')
      if (writer !== self && words.join(' ') === schema) listener()
    })
    await client.connect()
    await ask(`listen "${channel}"`).catch((error: unknown) => {
      void close()
      throw error
    })
    asking = setInterval(() => ask('select 1').catch(close), askEvery)
    asking.unref()
    failures = 0
    listener()
  }
  const connectLater = () => {
    clearTimeout(timer)
    if (isStopped) return
    failures++
    const pause = growingPause(failures, pauses)
    timer = setTimeout(() => connect().catch(connectLater), pause)
    timer.unref()
  }
  connect().catch(connectLater)
  return {
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await end?.().catch(ignoreError)
    },
  }
}
