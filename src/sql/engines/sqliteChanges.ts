import { sql } from 'kysely'
import type { SqlSession } from '../tables/sqlEngine.js'
import type { WatchedConnection } from './sqliteCommits.js'

/** Milliseconds between two checks whether a file has changed. */
const askEvery = 100

/** Notifies listeners of new events in a file. */
export type SqliteChanges = {
  /** Returns a function that unregisters the listener. */
  listen(listener: () => void): () => void
  end(): Promise<void>
}

/**
 * Notifies listeners when this or another process commits new events to a file.
 * SQLite counts commits without reading the file, so a check costs
 * microseconds. Commits without an event, such as those of leases, are not
 * reported: a listener that commits in response would never rest.
 */
export function hearSqlite(
  connect: () => Promise<WatchedConnection>,
): SqliteChanges {
  const listeners = new Set<() => void>()
  let timer: ReturnType<typeof setInterval> | undefined
  let asking: Promise<void> | undefined
  let connection: WatchedConnection | undefined
  let commits: bigint | undefined
  let newest: bigint | undefined
  const ask = async (): Promise<void> => {
    connection ??= await connect()
    connection.check()
    const counted = await loadNumber(connection.session, countCommits)
    if (counted === commits) return
    commits = counted
    const before = newest
    newest = await loadNumber(connection.session, findNewest)
    if (before !== undefined && before !== newest)
      for (const listener of listeners) listener()
  }
  const close = async (): Promise<void> => {
    const closed = connection
    connection = undefined
    await closed?.close()
  }
  const stop = async (): Promise<void> => {
    clearInterval(timer)
    timer = undefined
    await asking
    if (!timer) await close().catch(() => undefined)
  }
  const start = (): void => {
    timer = setInterval(() => {
      asking ??= ask()
        // The next read or write of the store reports the error.
        .catch(() => close().catch(() => undefined))
        .finally(() => {
          asking = undefined
        })
    }, askEvery)
    timer.unref()
  }
  return {
    listen: (listener) => {
      const own = () => listener()
      listeners.add(own)
      if (!timer) start()
      return () => {
        listeners.delete(own)
        if (listeners.size === 0) void stop()
      }
    },
    end: async () => {
      listeners.clear()
      await stop()
    },
  }
}

/** Returns a number that changes when another connection commits. */
const countCommits = 'pragma data_version'

const findNewest = 'select coalesce(max(cursor), 0) as cursor from events'

async function loadNumber(session: SqlSession, text: string): Promise<bigint> {
  const { rows } = await sql.raw<object>(text).execute(session)
  const [value] = Object.values(rows[0] ?? {})
  return BigInt(String(value ?? 0))
}
