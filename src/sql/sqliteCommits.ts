import { sql } from 'kysely'
import { StoreError } from '../store/errors.js'
import type { SqlSession } from './sqlEngine.js'
import { SqlFault } from './sqlFault.js'

/** For how long a writer waits for other processes. */
export const patienceMilliseconds = 30_000

/** Units of work that share a commit at most, and for how long they do. */
const maxUnits = 32
const maxMilliseconds = 25

/** Units of work that become durable together: one sync of the disk for all. */
type Group = {
  isOpen: boolean
  units: number
  began: number
  /** Settled when the commit is. */
  kept: Promise<void>
  settle(commit: Promise<void>): void
}

/** One after another, and each all or nothing; who waits shares a commit. */
export type SharedCommits = {
  /** Runs a unit of work in its turn; resolves once it is durable. */
  join<result>(use: (session: SqlSession) => Promise<result>): Promise<result>
  /** Whether this is the session of a unit that shares. */
  has(session: SqlSession): boolean
  begin(session: SqlSession): Promise<void>
  keep(session: SqlSession): Promise<void>
  undo(session: SqlSession): Promise<void>
  end(): Promise<void>
}

export function shareCommits(
  connect: () => Promise<SqlSession>,
): SharedCommits {
  const sessions = new WeakSet<SqlSession>()
  let writer: SqlSession | undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let group: Group | undefined
  const isFull = ({ units, began }: Group) =>
    units >= maxUnits || performance.now() - began > maxMilliseconds

  const turn = async <result>(
    use: (session: SqlSession) => Promise<result>,
  ) => {
    waiting--
    group ??= startGroup()
    const mine = group
    mine.units++
    try {
      writer ??= await connect()
      const result = await writer.connection().execute((session) => {
        sessions.add(session)
        return use(session)
      })
      return { result, kept: mine.kept }
    } finally {
      // What came in while the disk was waited for is to share this commit.
      if (waiting === 0) await nextTurn()
      if (waiting === 0 || isFull(mine)) {
        mine.settle(mine.isOpen ? commit(writer) : Promise.resolve())
        group = undefined
        await mine.kept.catch(() => undefined)
      }
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
    begin: async (session) => {
      if (group && !group.isOpen) {
        // Waits asleep: SQLite's own busy timeout would stop the event loop.
        await whileBusy(() => sql`begin immediate`.execute(session))
        group.isOpen = true
      }
      await sql`savepoint unit`.execute(session)
    },
    has: (session) => sessions.has(session),
    keep: async (session) => {
      await sql`release unit`.execute(session)
    },
    undo: async (session) => {
      await sql`rollback to unit`.execute(session).catch(() => undefined)
      await sql`release unit`.execute(session).catch(() => undefined)
    },
    end: async () => {
      await last
      await writer?.destroy()
    },
  }
}

/** After what is ready by now has run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function startGroup(): Group {
  let settle: Group['settle'] = () => undefined
  const kept = new Promise<void>((resolve) => {
    settle = resolve
  })
  // Whoever took part hears of it; nobody may have.
  kept.catch(() => undefined)
  return {
    isOpen: false,
    units: 0,
    began: performance.now(),
    kept,
    settle,
  }
}

async function commit(session: SqlSession | undefined): Promise<void> {
  if (!session) return
  try {
    await whileBusy(() => sql`commit`.execute(session))
  } catch {
    await sql`rollback`.execute(session).catch(() => undefined)
    throw new StoreError('cannot say whether the last write was kept', true)
  }
}

/** Asks again as long as another process is writing. */
export async function whileBusy<result>(
  ask: () => Promise<result>,
): Promise<result> {
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
