import { nextTurn } from '../../core/wait.js'
import { StoreError } from '../../store/errors.js'
import { runText } from '../tables/runQuery.js'
import type { SqlSession } from '../tables/sqlEngine.js'
import { runPatiently, SqlFault } from '../tables/sqlFault.js'
import { loadNumber, type SqliteConnection } from './sqliteConnection.js'

/**
 * Milliseconds that a writer waits while other processes write to the file.
 * After that, it fails.
 */
export const patienceMilliseconds = 30_000

/**
 * Limits of one shared commit: the number of transactions in it, and the
 * milliseconds to collect them. Between two commits, the event loop can serve
 * requests.
 */
const maxUnits = 16
const maxMilliseconds = 25

/**
 * Transactions of the store that share one commit, and so one sync of the disk.
 */
type Group = {
  isOpen: boolean
  /**
   * True while the first transaction of the group runs. It needs no savepoint,
   * because nothing precedes it that must be kept.
   */
  isFirst: boolean
  units: number
  began: number
  /** Resolves when the shared commit succeeds, rejects when it fails. */
  kept: Promise<void>
  settle(commit: Promise<void>): void
}

/**
 * Runs transactions one after another. Each is atomic. Those that wait at the
 * same time share a commit, because each sync of the disk takes milliseconds.
 */
export type SharedCommits = {
  /** Runs one transaction when its turn comes. Resolves once it is durable. */
  join<result>(use: (session: SqlSession) => Promise<result>): Promise<result>
  /** True for the session of a transaction that shares a commit. */
  has(session: SqlSession): boolean
  /**
   * Runs statements that need no transaction of their own: inside the
   * transaction that is open, or else each by itself.
   */
  writeAlone<result>(
    session: SqlSession,
    use: (session: SqlSession) => Promise<result>,
  ): Promise<result>
  begin(session: SqlSession): Promise<void>
  keep(session: SqlSession): Promise<void>
  undo(session: SqlSession): Promise<void>
  /**
   * Returns a number that changes when another process commits. SQLite counts
   * commits without reading the file, so a call takes microseconds.
   */
  countOthers(): Promise<bigint>
  end(): Promise<void>
}

/** A connection that checks whether its file is still in place. */
export type WatchedConnection = SqliteConnection & {
  /** @throws {@link StoreError} when the file was moved or replaced. */
  check(): void
  close(): Promise<void>
}

export function shareCommits(
  connect: () => Promise<WatchedConnection>,
): SharedCommits {
  const sessions = new WeakSet<SqlSession>()
  let writer: WatchedConnection | undefined
  let opening: Promise<WatchedConnection> | undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let group: Group | undefined
  const isFull = ({ units, began }: Group) =>
    units >= maxUnits || performance.now() - began > maxMilliseconds

  const openWriter = async (): Promise<WatchedConnection> => {
    if (writer) return writer
    opening ??= connect()
    try {
      writer = await opening
    } finally {
      opening = undefined
    }
    return writer
  }

  const turn = async <result>(
    use: (session: SqlSession) => Promise<result>,
  ) => {
    waiting--
    group ??= startGroup()
    const mine = group
    mine.units++
    try {
      const { session: own } = await openWriter()
      const result = await own.connection().execute((session) => {
        sessions.add(session)
        return use(session)
      })
      return { result, kept: mine.kept }
    } finally {
      // Waits for a turn of the event loop, so that transactions that arrived
      // while the disk was busy can join this commit.
      if (waiting === 0) await nextTurn()
      if (waiting === 0 || isFull(mine)) {
        mine.settle(mine.isOpen ? commit() : Promise.resolve())
        group = undefined
        await mine.kept.catch(() => undefined)
        // SQLite calls return without giving the event loop a turn. Without
        // this pause, the server would accept no connection until the last
        // waiting transaction ends.
        if (waiting > 0) await nextTurn()
      }
    }
  }

  const commit = async () => {
    if (!writer) return
    const { session, isInside, check, close } = writer
    try {
      if (!isInside()) throw takenBack()
      await whileBusy(() => runText(session, 'commit'))
      check()
    } catch (error) {
      await runText(session, 'rollback').catch(() => undefined)
      // Drops a connection that could not roll back: its next transaction would
      // begin inside the failed one.
      if (isInside()) {
        writer = undefined
        await close()
      }
      throw explainCommit(error)
    }
  }
  return {
    join: async (use) => {
      waiting++
      const mine = last.then(() => turn(use))
      last = mine.catch(() => undefined)
      const { result, kept } = await mine
      await kept
      return result
    },
    writeAlone: async (session, use) => {
      if (group?.isOpen && !writer?.isInside()) throw takenBack()
      writer?.check()
      const result = await whileBusy(() => use(session))
      writer?.check()
      return result
    },
    begin: async (session) => {
      if (group?.isOpen && !writer?.isInside()) throw takenBack()
      if (group && !group.isOpen) {
        writer?.check()
        // Repeats `begin` with timers. SQLite's own busy timeout would block
        // the event loop.
        await whileBusy(() => runText(session, 'begin immediate'))
        group.isOpen = true
        group.isFirst = true
        return
      }
      if (group) group.isFirst = false
      await runText(session, 'savepoint unit')
    },
    has: (session) => sessions.has(session),
    keep: async (session) => {
      if (!group?.isFirst) await runText(session, 'release unit')
    },
    undo: async (session) => {
      if (group?.isFirst) {
        await runText(session, 'rollback').catch(() => undefined)
        group.isOpen = false
        return
      }
      await runText(session, 'rollback to unit').catch(() => undefined)
      await runText(session, 'release unit').catch(() => undefined)
    },
    countOthers: async () => {
      const { session } = await openWriter()
      return loadNumber(session, 'pragma data_version')
    },
    end: async () => {
      await last
      await writer?.close()
    },
  }
}

function startGroup(): Group {
  let settle: Group['settle'] = () => undefined
  const kept = new Promise<void>((resolve) => {
    settle = resolve
  })
  // Each transaction of the group handles this error itself. If the group has
  // none, this handler prevents an unhandled rejection.
  kept.catch(() => undefined)
  return {
    isOpen: false,
    isFirst: false,
    units: 0,
    began: performance.now(),
    kept,
    settle,
  }
}

/**
 * The fault when SQLite has rolled back the whole group, for example because
 * the disk is full. The transactions of the group may run again.
 */
function takenBack(): SqlFault {
  return new SqlFault('rolledBack', 'SQLITE_ABORT')
}

/**
 * A commit that found no room has saved nothing: its last page is what makes
 * the others count.
 */
function explainCommit(error: unknown): unknown {
  if (!(error instanceof SqlFault)) return error
  if (error.kind === 'rolledBack' || error.kind === 'full') return error
  return new StoreError(
    `does not know whether the last write was saved (${error.code})`,
    true,
  )
}

/**
 * Repeats a statement while another process is writing, for up to 30 seconds.
 */
export function whileBusy<result>(ask: () => Promise<result>): Promise<result> {
  return runPatiently(ask, {
    milliseconds: patienceMilliseconds,
    firstPause: 1,
    longestPause: 25,
    mayRunAgain: (error) =>
      error instanceof SqlFault && error.kind === 'rolledBack',
  })
}
