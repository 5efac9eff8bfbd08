import { nextTurn } from '../../core/wait.js'
import { StoreError } from '../../store/errors.js'
import { runText } from '../tables/runQuery.js'
import type { SqlSession } from '../tables/sqlEngine.js'
import { runPatiently, SqlFault } from '../tables/sqlFault.js'
import { loadNumber, type SqliteConnection } from './sqliteConnection.js'

/** Milliseconds that a writer waits for writers of other processes. */
export const patienceMilliseconds = 30_000

/**
 * Limits of a shared commit: units of work, and the time to collect them. The
 * event loop serves everything else between two commits.
 */
const maxUnits = 16
const maxMilliseconds = 25

/** Units of work that share a commit: one sync of the disk for all. */
type Group = {
  isOpen: boolean
  /** True while its first unit runs, which needs no savepoint. */
  isFirst: boolean
  units: number
  began: number
  /** Resolves or rejects with the commit. */
  kept: Promise<void>
  settle(commit: Promise<void>): void
}

/**
 * Runs units of work one after another. Each is atomic. Units that are waiting
 * share a commit.
 */
export type SharedCommits = {
  /** Runs a unit of work in its turn; resolves once it is durable. */
  join<result>(use: (session: SqlSession) => Promise<result>): Promise<result>
  /** True for the session of a unit of work that shares a commit. */
  has(session: SqlSession): boolean
  /**
   * Runs statements without a transaction of their own: inside the one that
   * others have begun, or each in its own.
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
   * commits without reading the file, so this costs microseconds.
   */
  countOthers(): Promise<bigint>
  end(): Promise<void>
}

/** A connection that checks that its file is still there. */
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
      // Units that arrived while the disk was busy share this commit.
      if (waiting === 0) await nextTurn()
      if (waiting === 0 || isFull(mine)) {
        mine.settle(mine.isOpen ? commit() : Promise.resolve())
        group = undefined
        await mine.kept.catch(() => undefined)
        // SQLite answers at once, so units that wait would otherwise run in this
        // turn, and the server would accept no connection until the last one.
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
      // A connection that cannot roll back is broken.
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
        // Waits with timers: SQLite's own busy timeout would block the event
        // loop.
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
  // Each unit of the group handles the error. A group without units needs this
  // handler, or the error would be unhandled.
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
 * The fault when SQLite has rolled back the whole group, as on a full disk. Its
 * units may run again.
 */
function takenBack(): SqlFault {
  return new SqlFault('rolledBack', 'SQLITE_ABORT')
}

function explainCommit(error: unknown): unknown {
  if (!(error instanceof SqlFault) || error.kind === 'rolledBack') return error
  return new StoreError(
    `does not know whether the last write was saved (${error.code})`,
    true,
  )
}

/** Repeats a statement while another process is writing. */
export function whileBusy<result>(ask: () => Promise<result>): Promise<result> {
  return runPatiently(ask, {
    milliseconds: patienceMilliseconds,
    firstPause: 1,
    longestPause: 25,
    mayRunAgain: (error) =>
      error instanceof SqlFault && error.kind === 'rolledBack',
  })
}
