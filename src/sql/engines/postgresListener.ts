import { growingPause } from '../../core/keepTrying.js'
import { ignoreError, keepAlive, loadPostgres } from './postgresPool.js'

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
    const client = new Client({ connectionString, ...keepAlive })
    client.on('error', ignoreError)
    client.on('end', connectLater)
    client.on('notification', ({ payload }) => {
      const [writer, ...words] = String(payload).split(' ')
      if (writer !== self && words.join(' ') === schema) listener()
    })
    end = () => client.end()
    await client.connect()
    await client.query(`listen "${channel}"`)
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
