import { nextTurn } from '../core/wait.js'
import { SqlFault } from '../sql/tables/sqlFault.js'
import type { DurableStorage } from './durableStorage.js'
import { applyLeft, heldTable, insertHeld, removeHeld } from './heldChanges.js'
import { neededFor, writesTo } from './neededFor.js'
import { type Found, runStatement, type Statement } from './runStatement.js'

/** A transaction of the store. */
export type ObjectUnit = {
  /** @throws {@link SqlFault} when the database refuses the statement. */
  run(statement: Statement): Found & { numAffectedRows?: bigint }
  /** Makes all changes of this unit, or none. */
  commit(): Promise<void>
  undo(): void
}

/** The SQL database of one Durable Object, for all stores in this object. */
export type ObjectDatabase = {
  /** Runs a unit. Those that write run one after another. */
  use<result>(
    mode: 'read' | 'write',
    work: (unit: ObjectUnit) => Promise<result>,
  ): Promise<result>
  /** Calls the listeners of all stores but this one. */
  tell(store: object): void
  /** Returns a function that unregisters the listener. */
  listen(store: object, listener: () => void): () => void
}

/** Most units that write without a turn of the event loop in between. */
const mostInTurn = 16

/**
 * Most changes that wait for the end of a read. After that, the read has to
 * begin again.
 */
const mostHeld = 100

const databases = /* @__PURE__ */ new WeakMap<DurableStorage, ObjectDatabase>()

/**
 * Returns the database of a storage, the same one for each call.
 *
 * The platform has one connection, and its asynchronous transactions block the
 * whole object. So no transaction is open while a unit waits. Each statement of
 * a unit runs in a transaction of its own, after the earlier statements of the
 * unit on which it depends, and is rolled back. The commit runs all of them
 * again, in one transaction. So nobody sees what is not committed.
 */
export function objectDatabase(storage: DurableStorage): ObjectDatabase {
  const known = databases.get(storage) ?? openDatabase(storage)
  databases.set(storage, known)
  return known
}

/** What a committed unit has changed. */
type Change = {
  readonly number: number
  readonly statements: readonly Statement[]
  /** False while the change is only in the table of held changes. */
  isMade: boolean
}

type OpenRead = { readonly before: readonly Change[]; isOver: boolean }

function openDatabase(storage: DurableStorage): ObjectDatabase {
  const listeners = new Map<() => void, object>()
  const reads = new Set<OpenRead>()
  let held: readonly Change[] = []
  let last: Promise<unknown> = Promise.resolve()
  let isReady = false
  let turns = 0
  let numChanges = 0

  const prepare = () => {
    if (!isReady) {
      runStatement(storage, { text: heldTable, bindings: [] })
      applyLeft(storage)
    }
    isReady = true
  }
  const hold = (statements: readonly Statement[]) => {
    const change = { number: ++numChanges, statements, isMade: false }
    storage.transactionSync(() =>
      insertHeld(storage, change.number, statements),
    )
    held = [...held, change]
  }
  const endReads = () => {
    for (const read of reads) read.isOver = true
    reads.clear()
  }
  /** Makes the held changes that wait for no open read. If one fails, none. */
  const makeHeld = () => {
    const open = [...reads]
    const isOpen = (change: Change) =>
      open.some(({ before }) => !before.includes(change))
    const end = held.findIndex(isOpen)
    const made = end < 0 ? held : held.slice(0, end)
    const newest = made.at(-1)
    if (!newest) return
    storage.transactionSync(() => {
      for (const { statements } of made)
        for (const statement of statements) runEarlier(storage, statement)
      removeHeld(storage, newest.number)
    })
    for (const change of made) change.isMade = true
    held = held.slice(made.length)
  }
  const startUnit = (read: OpenRead): ObjectUnit => {
    let done: { statement: Statement; found: Found }[] = []
    return {
      run: (statement) => {
        if (read.isOver) throw new SqlFault('rolledBack', 'SQLITE_BUSY')
        const before = read.before.filter(({ isMade }) => !isMade)
        const needed = neededFor(statement, [
          ...before.flatMap(({ statements }) => statements),
          ...done.map((one) => one.statement),
        ])
        const isWrite = writesTo(statement.text)
        if (!isWrite && needed.length === 0)
          return runStatement(storage, statement)
        return rehearse(storage, () => {
          for (const one of needed) runEarlier(storage, one)
          const found = runStatement(storage, statement)
          if (!isWrite) return found
          done.push({ statement, found })
          return { ...found, numAffectedRows: countChanges(storage) }
        })
      },
      commit: async () => {
        if (done.length === 0) return
        // Most reads wait for nothing else, and end within this turn.
        if (reads.size > 0) await nextTurn()
        if (held.length >= mostHeld) endReads()
        if (reads.size > 0) return hold(done.map(({ statement }) => statement))
        makeHeld()
        storage.transactionSync(() => {
          for (const { statement, found } of done)
            assertSame(runStatement(storage, statement), found)
        })
      },
      undo: () => {
        done = []
      },
    }
  }
  const read = async <result>(work: (unit: ObjectUnit) => Promise<result>) => {
    prepare()
    const open = { before: held, isOver: false }
    reads.add(open)
    try {
      return await work(startUnit(open))
    } finally {
      reads.delete(open)
      try {
        makeHeld()
      } catch {
        // The changes stay in the table of held changes. The next commit makes
        // them, or throws.
      }
    }
  }
  const write = async <result>(work: (unit: ObjectUnit) => Promise<result>) => {
    // Lets the object receive requests and answers between many writes.
    if (++turns % mostInTurn === 0) await nextTurn()
    prepare()
    return work(startUnit({ before: held, isOver: false }))
  }
  return {
    use: (mode, work) => {
      if (mode === 'read') return read(work)
      const mine = last.then(() => write(work))
      last = mine.catch(() => undefined)
      return mine
    },
    tell: (store) => {
      for (const [listener, owner] of listeners) if (owner !== store) listener()
    },
    listen: (store, listener) => {
      const own = () => listener()
      listeners.set(own, store)
      return () => {
        listeners.delete(own)
      }
    },
  }
}

/**
 * Runs a statement that has succeeded before. If it fails now, that says nothing
 * about the rows of the unit that runs.
 */
function runEarlier(storage: DurableStorage, statement: Statement): void {
  try {
    runStatement(storage, statement)
  } catch (error) {
    if (error instanceof SqlFault && error.kind === 'duplicate')
      throw new SqlFault('refused', error.code)
    throw error
  }
}

/** Runs statements, and rolls them back. */
function rehearse<result>(storage: DurableStorage, work: () => result): result {
  const rollback = new Error('rolled back')
  let done: { result: result } | undefined
  try {
    storage.transactionSync(() => {
      done = { result: work() }
      throw rollback
    })
  } catch (error) {
    if (error === rollback && done) return done.result
    throw error
  }
  throw rollback
}

function countChanges(storage: DurableStorage): bigint {
  const text = 'select changes() as changes'
  const { rows } = runStatement(storage, { text, bindings: [] })
  return BigInt(String(rows[0]?.changes))
}

/**
 * Checks that a statement did the same as before. It would not if the rows were
 * changed by other means than this store: then the unit runs again.
 */
function assertSame(now: Found, before: Found): void {
  const isSame =
    now.rowsWritten === before.rowsWritten &&
    JSON.stringify(now.rows) === JSON.stringify(before.rows)
  if (!isSame) throw new SqlFault('rolledBack', 'SQLITE_BUSY')
}
