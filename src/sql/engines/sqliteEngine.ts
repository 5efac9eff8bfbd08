import { closeSync, openSync, realpathSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { StoreError } from '../../store/errors.js'
import { bothSides } from '../tables/archivedTables.js'
import { assertKnown } from '../tables/migrations.js'
import { runText } from '../tables/runQuery.js'
import type { SqlEngine, SqlSession } from '../tables/sqlEngine.js'
import { SqlLoss } from '../tables/sqlLoss.js'
import { hasSqliteTable } from './hasSqliteTable.js'
import { parseSqliteFile } from './parseSqliteFile.js'
import { hearSqlite } from './sqliteChanges.js'
import {
  patienceMilliseconds,
  shareCommits,
  type WatchedConnection,
  whileBusy,
} from './sqliteCommits.js'
import {
  connectSqlite,
  loadLibsql,
  loadNumber,
  type OpenLibsql,
} from './sqliteConnection.js'
import { sqliteDialect } from './sqliteDialect.js'
import { limitReaders } from './sqliteReaders.js'

/** Most read transactions at the same time, each with its own connection. */
const maxReaders = 4

const newestCursor = 'select max(cursor) from events'
const newestVersion = 'select max(version) from versions'

type SqliteEngineParameters = {
  file: string
  /**
   * Set if the file must exist already. With `'read'`, the engine writes
   * nothing: it sets no journal mode and makes no checkpoint.
   */
  attached?: 'read' | 'write' | undefined
}

/**
 * Creates the engine for SQLite: one connection writes, up to four others read.
 */
export function sqliteEngine(parameters: SqliteEngineParameters): SqlEngine {
  const file = parseSqliteFile(parameters)
  const { attached } = parameters
  const isReadOnly = attached === 'read'
  const idle: WatchedConnection[] = []
  let checkFile: (() => void) | undefined
  let checkLog: (() => void) | undefined
  let connections = 0
  let openLibsql: OpenLibsql | undefined
  let isClosed = false

  const check = () => {
    checkFile?.()
    checkLog?.()
  }
  const connect = async (): Promise<WatchedConnection> => {
    openLibsql ??= await loadLibsql()
    // Checks that the file is in place. A new connection would otherwise create
    // an empty file.
    check()
    if (attached) assertFile(file)
    else createFile(file)
    const { session, isInside } = connectSqlite(
      openLibsql,
      isReadOnly ? `${pathToFileURL(file).href}?mode=ro` : file,
    )
    connections++
    const close = async () => {
      // SQLite deletes the write-ahead log when the last connection closes, so
      // there is nothing more to watch.
      if (--connections === 0) checkLog = undefined
      await session.destroy()
    }
    try {
      if (!isReadOnly) await prepareConnection(session)
    } catch (error) {
      await close()
      throw error
    }
    checkFile ??= watchFile(file)
    // The write-ahead log lies beside the file itself. If `file` is a symbolic
    // link, follow it.
    checkLog ??= watchFile(`${realpathSync(file)}-wal`)
    return { session, isInside, check, close }
  }
  const inTurn = limitReaders(maxReaders)
  const read = <result>(use: (session: SqlSession) => Promise<result>) =>
    inTurn(async () => {
      // The store may have been closed while this reader waited for its turn.
      if (isClosed) throw new StoreError('is closed')
      const connection = idle.pop() ?? (await connect())
      const { session, isInside, close } = connection
      try {
        check()
        return await session.connection().execute(use)
      } finally {
        if (isClosed || isInside() || idle.length >= maxReaders) await close()
        else idle.push(connection)
      }
    })
  const commits = shareCommits(connect)
  const changes = hearSqlite({
    countOthers: commits.countOthers,
    findNewest: () => read((session) => loadNumber(session, newestCursor)),
  })
  return {
    dialect: sqliteDialect,
    patienceMilliseconds,
    connect: async (mode, use) => {
      if (isClosed) throw new StoreError('is closed')
      return mode === 'read' ? read(use) : commits.join(use)
    },
    writeAlone: async (use) => {
      if (isClosed) throw new StoreError('is closed')
      return commits.join((session) => commits.writeAlone(session, use))
    },
    begin: async (session, mode, { known }) => {
      if (mode === 'write') await commits.begin(session)
      else await whileBusy(() => runText(session, 'begin'))
      if (known !== undefined)
        assertKnown(Number(await loadNumber(session, newestVersion)), known)
      return bothSides
    },
    commit: async (session) => {
      if (commits.has(session)) return commits.keep(session)
      await runText(session, 'commit')
    },
    rollback: async (session) => {
      if (commits.has(session)) return commits.undo(session)
      await runText(session, 'rollback').catch(() => undefined)
    },
    assertDurable,
    lockSchema: async () => undefined,
    // A transaction that writes excludes all others.
    lockVersions: async () => undefined,
    hasTable: hasSqliteTable,
    identify: async () => {
      const { ino, birthtimeNs } = await stat(file, { bigint: true })
      return `sqlite ${ino} ${birthtimeNs}`
    },
    lock: async () => undefined,
    onChange: changes.listen,
    close: async () => {
      isClosed = true
      await changes.end()
      await commits.end()
      if (!isReadOnly) await moveLogIn(idle[0]?.session)
      await Promise.all(idle.splice(0).map((it) => it.close()))
    },
  }
}

/**
 * Creates the file so that only its owner can read it. SQLite gives the
 * write-ahead log the same mode. An existing file keeps its mode.
 */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch {
    // Ignores the error: either the file exists, or SQLite will report why it
    // cannot be created.
  }
}

/** @throws {@link StoreError} when there is no such file. */
function assertFile(file: string): void {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new StoreError(
      `has no database yet: there is no file ${JSON.stringify(file)}; your server or a worker creates it when it starts`,
    )
}

/**
 * Returns a function that throws if the file was moved or replaced since.
 *
 * SQLite continues to write to a removed file, and those writes are lost when
 * the process ends.
 */
function watchFile(path: string): () => void {
  let first = inodeOf(path)
  return () => {
    const inode = inodeOf(path)
    first ??= inode
    if (inode !== first)
      throw new SqlLoss(
        'lost its file, which was moved, removed or replaced: restart the process',
      )
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

async function prepareConnection(session: SqlSession): Promise<void> {
  await whileBusy(() => sql`pragma journal_mode = wal`.execute(session))
  await sql`pragma synchronous = full`.execute(session)
  // Overwrites erased secrets with zeros in the file at the next checkpoint.
  await sql`pragma secure_delete = on`.execute(session)
}

/**
 * Copies the write-ahead log into the database file, unless another process
 * uses it. A copy of the file alone then has all orders.
 */
async function moveLogIn(session: SqlSession | undefined): Promise<void> {
  // Ignores a failure: the next process that writes copies the log.
  if (session)
    await sql`pragma wal_checkpoint(truncate)`
      .execute(session)
      .catch(() => undefined)
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
