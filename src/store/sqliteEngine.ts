import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { sql } from 'kysely'
import { StoreError } from './errors.js'
import type { SqlEngine, SqlSession } from './sqlEngine.js'
import { SqlFault } from './sqlFault.js'
import {
  connectSqlite,
  loadLibsql,
  type OpenLibsql,
} from './sqliteConnection.js'
import { sqliteDialect } from './sqliteDialect.js'

const patienceMilliseconds = 30_000

/** Idle connections that are kept for the next readers. */
const maxIdle = 4

/** SQLite in a file: one connection writes, others read beside it. */
export function sqliteEngine(parameters: { file: string }): SqlEngine {
  if (/^(|:memory:|file:.*)$/s.test(parameters.file))
    throw new StoreError(`needs the path of a file, not '${parameters.file}'`)
  // It stays where it is when the process goes elsewhere.
  const file = resolve(parameters.file)
  const idle: SqlSession[] = []
  let openLibsql: OpenLibsql | undefined
  let writer: SqlSession | undefined
  let isClosed = false

  const connect = async () => {
    openLibsql ??= await loadLibsql()
    const session = connectSqlite(openLibsql, file)
    await prepareConnection(session)
    return session
  }
  const write: SqlEngine['connect'] = async (_, use) => {
    writer ??= await connect()
    return writer.connection().execute(use)
  }
  const read: SqlEngine['connect'] = async (_, use) => {
    const session = idle.pop() ?? (await connect())
    try {
      return await session.connection().execute(use)
    } finally {
      if (isClosed || idle.length >= maxIdle) await session.destroy()
      else idle.push(session)
    }
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    dialect: sqliteDialect,
    patienceMilliseconds,
    connect: async (mode, use) => {
      if (isClosed) throw new StoreError('is closed')
      if (mode === 'read') return read(mode, use)
      const turn = last.then(() => write(mode, use))
      last = turn.catch(() => undefined)
      return turn
    },
    begin: async (session, mode) => {
      // Waits asleep: SQLite's own busy timeout would stop the event loop.
      await whileBusy(() =>
        sql
          .raw(mode === 'write' ? 'begin immediate' : 'begin')
          .execute(session),
      )
      if (mode === 'write') return
      // The first look, not the beginning, decides what a reader sees.
      await whileBusy(() => sql`select 1 from sqlite_schema`.execute(session))
    },
    commit: async (session) => {
      await whileBusy(() => sql`commit`.execute(session)).catch((error) => {
        const isBusy = error instanceof SqlFault && error.kind === 'rolledBack'
        throw isBusy ? error : new SqlFault('lost', 'commit')
      })
    },
    rollback: async (session) => {
      await sql`rollback`.execute(session).catch(() => undefined)
    },
    assertDurable,
    lockSchema,
    identify: async () => {
      const { ino, birthtimeNs } = await stat(file, { bigint: true })
      return `sqlite ${ino} ${birthtimeNs}`
    },
    lock: async () => undefined,
    close: async () => {
      isClosed = true
      await last
      await Promise.all([writer, ...idle.splice(0)].map((it) => it?.destroy()))
    },
  }
}

async function prepareConnection(session: SqlSession): Promise<void> {
  await whileBusy(() => sql`pragma journal_mode = wal`.execute(session))
  await sql`pragma synchronous = full`.execute(session)
}

async function assertDurable(session: SqlSession): Promise<void> {
  const [journal] = (await sql<object>`pragma journal_mode`.execute(session))
    .rows
  const [level] = (await sql<object>`pragma synchronous`.execute(session)).rows
  const mode = Reflect.get(journal ?? {}, 'journal_mode')
  const synchronous = Reflect.get(level ?? {}, 'synchronous')
  if (mode !== 'wal')
    throw new StoreError(`needs a write-ahead log, and its file has '${mode}'`)
  if (synchronous !== 2n)
    throw new StoreError(`needs synchronous = FULL, and has ${synchronous}`)
}

async function lockSchema(session: SqlSession): Promise<boolean> {
  const asked = sql`select 1 from sqlite_schema where name = 'migrations'`
  return (await asked.execute(session)).rows.length > 0
}

/** Asks again as long as another process is writing. */
async function whileBusy<result>(ask: () => Promise<result>): Promise<result> {
  const until = performance.now() + patienceMilliseconds
  for (let round = 0; ; round++) {
    try {
      return await ask()
    } catch (error) {
      const isBusy = error instanceof SqlFault && error.kind === 'rolledBack'
      if (!isBusy || performance.now() > until) throw error
      const longest = Math.min(2 ** round, 25)
      const wait = longest * (0.5 + Math.random() / 2)
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}
