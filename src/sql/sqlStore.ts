import { sql } from 'kysely'
import { loadOnce } from '../core/loadOnce.js'
import { StoreError } from '../store/errors.js'
import { lostEvents } from '../store/lostEvents.js'
import type { Lease, PaymentStore } from '../store/types.js'
import { archiveOver, bringBack } from './sqlArchive.js'
import {
  checkSqlLease,
  releaseSqlLease,
  sweepSqlLeases,
  takeSqlLease,
} from './sqlLeases.js'
import type { Finder } from './sqlOrders.js'
import { sqlReader } from './sqlReader.js'
import { loadValue, replaceValue } from './sqlSettings.js'
import { type SqlUnit, startSqlUnit } from './sqlUnit.js'
import { sqlWriter } from './sqlWriter.js'
import { ArchivedFault, bothSides } from './tables/archivedTables.js'
import { assertMigrated, migrate, migrations } from './tables/migrations.js'
import { type SeenRows, seenRows } from './tables/seenRows.js'
import type {
  BeginChecks,
  Migration,
  SqlEngine,
  SqlSession,
} from './tables/sqlEngine.js'
import { mayRunAgain, runPatiently, SqlFault } from './tables/sqlFault.js'
import type { Side } from './tables/sqlTables.js'

type Mode = 'read' | 'write'
type Work<result> = (
  session: SqlSession,
  unit: SqlUnit,
  sides: readonly Side[],
) => Promise<result>

/**
 * Creates a store over an SQL engine.
 *
 * @param attached set if the database exists and `open` must not change it.
 * With `'read'`, no call changes it.
 */
export function createSqlStore(
  engine: SqlEngine,
  steps: readonly Migration[] = migrations,
  attached?: 'read' | 'write' | undefined,
): PaymentStore {
  const { dialect, writeAlone } = engine
  const seen = seenRows()
  const listeners = new Set<(by?: string) => void>()
  const patiently = <result>(unit: (until: number) => Promise<result>) =>
    runPatiently(unit, {
      milliseconds: engine.patienceMilliseconds,
      firstPause: 10,
      longestPause: 1_000,
      mayRunAgain,
    })
  const known = steps.length
  const run = <result>(
    mode: Mode,
    work: Work<result>,
    checks: BeginChecks & { lease?: Lease | undefined } = {},
  ) => {
    // Orders that turned out to be in the archive when `work` changed them.
    const back = new Set<string>()
    // Brings them back and runs `work` again in one transaction. Otherwise they
    // could be archived again in between.
    const workAgain: Work<result> = async (session, unit, sides) => {
      await bringBack(engine, writing(session), [...back])
      return work(session, unit, sides)
    }
    return patiently((until) => {
      const now = back.size > 0 ? workAgain : work
      return runUnit(engine, mode, {
        ...checks,
        work: now,
        seen,
        tell,
        until,
      }).catch((error: unknown) => {
        if (error instanceof ArchivedFault)
          for (const id of error.orderIds) back.add(id)
        throw error
      })
    })
  }
  const writing = (session: SqlSession): Finder => {
    return { session, dialect, locks: dialect.locksRows, sides: bothSides }
  }
  const tell = (by: Lease | undefined) => {
    for (const listener of listeners) listener(by?.key)
  }
  const prepare = async () => {
    await run('read', (session) => engine.assertDurable(session))
    await run('write', async (session) => {
      await migrate(session, engine, steps)
      // Deletes old leases that killed processes could not release.
      await sweepSqlLeases(session, dialect)
    })
    const identity = await run('read', (session) => engine.identify(session))
    const enter = (session: SqlSession) =>
      enterDatabase(
        { session, dialect, locks: true, sides: bothSides },
        identity,
      )
    await run('write', enter, { known })
    return { identity }
  }
  const look = async () => {
    await run('read', (session) => assertMigrated(session, engine, steps))
    const identity = await run('read', (session) => engine.identify(session))
    return { identity }
  }
  const openToWrite = async () => {
    if (attached === 'read') throw new StoreError('was opened for reading only')
    await open()
  }
  const open = loadOnce(attached ? look : prepare)
  return {
    open,
    read: async (work) => {
      await open()
      return run(
        'read',
        (session, unit, sides) =>
          work(sqlReader({ session, dialect, locks: false, sides }, unit)),
        { asksArchive: true },
      )
    },
    write: async (work, { lease } = {}) => {
      await openToWrite()
      return run(
        'write',
        async (session, unit, sides) => {
          if (lease) await checkSqlLease(session, dialect, lease)
          const finder = { ...writing(session), sides }
          const { writer, flush } = sqlWriter(finder, engine, unit)
          const result = await work(writer)
          await unit.end()
          if (unit.failure === undefined) await flush()
          return result
        },
        { lease, known },
      )
    },
    archive: async (query) => {
      await openToWrite()
      const move = (session: SqlSession) =>
        archiveOver(engine, writing(session), query)
      return run('write', move, { known })
    },
    takeLease: async (wanted) => {
      await openToWrite()
      const take = (session: SqlSession) =>
        takeSqlLease(session, dialect, wanted, known)
      return writeAlone ? patiently(() => writeAlone(take)) : run('write', take)
    },
    releaseLease: async (lease) => {
      await openToWrite()
      const release = (session: SqlSession) =>
        releaseSqlLease(session, dialect, lease)
      await run('write', release, { known })
    },
    ...(engine.onChange && {
      onChange: (listener: (by?: string) => void) => {
        const own = (by?: string) => listener(by)
        const forget = engine.onChange?.(own)
        listeners.add(own)
        return () => {
          listeners.delete(own)
          forget?.()
        }
      },
    }),
    ...(attached && { isAttached: true }),
    close: engine.close,
  }
}

/** Key of the setting that holds the identity of the database. */
const databaseKey = 'database'

/**
 * Skips cursors if this database replaced another one, as after a restored
 * backup. Readers remember the highest cursor that they saw in the lost
 * database. Without the skip, they would ignore new events with lower cursors.
 */
async function enterDatabase(finder: Finder, identity: string): Promise<void> {
  const text = JSON.stringify({ identity })
  const known = await loadValue(finder, databaseKey)
  if (known === text) return
  const numRows = await replaceValue(finder, databaseKey, text, known)
  // Several processes can start at the same time. Only the one that replaced
  // the identity skips cursors.
  if (known === undefined || numRows !== 1n) return
  await sql`update counters set last = last + ${lostEvents}
    where name = 'events'`.execute(finder.session)
}

async function runUnit<result>(
  engine: SqlEngine,
  mode: Mode,
  {
    work,
    seen,
    lease,
    tell,
    until,
    ...checks
  }: BeginChecks & {
    work: Work<result>
    seen: SeenRows
    lease?: Lease | undefined
    tell: (by: Lease | undefined) => void
    until: number
  },
): Promise<result> {
  const unit = startSqlUnit(seen)
  const use = async (session: SqlSession) => {
    try {
      const sides = await engine.begin(session, mode, checks)
      const result = await work(session, unit, sides).finally(unit.end)
      if (unit.failure !== undefined) throw unit.failure
      // A write under a lease that adds no event changes only rows that its own
      // worker uses. So it notifies no other process.
      const isNews = unit.appended || (unit.changed && !lease)
      await commit(engine, session, isNews)
      return result
    } catch (error) {
      await engine.rollback(session)
      throw error instanceof SqlFault || mayRunAgain(unit.failure)
        ? (unit.failure ?? error)
        : error
    }
  }
  const done = await engine.connect(mode, use, until)
  // Remembers the rows only after the commit. Several transactions can share
  // one commit, and it can fail.
  seen.join(unit.seen)
  if (unit.appended) tell(lease)
  return done
}

async function commit(
  engine: SqlEngine,
  session: SqlSession,
  isNews: boolean,
): Promise<void> {
  try {
    await engine.commit(session, isNews)
  } catch (error) {
    if (error instanceof SqlFault && error.kind !== 'lost') throw error
    throw new StoreError('does not know whether the last write was saved', true)
  }
}
