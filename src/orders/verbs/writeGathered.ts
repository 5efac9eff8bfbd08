import { gatherCalls } from '../../core/gatherCalls.js'
import { isWorthAlone } from '../../store/isWorthAlone.js'
import type { PaymentStore, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import type { NewEvent } from '../model/changes.js'
import { type AskedPayer, type LoadedPayers, loadPayers } from './loadPayers.js'

type Inserted<table extends 'orders' | 'attempts' | 'notes'> = Parameters<
  StoreWriter[table]['insert']
>[0][number]

/** Rows to insert at the end of a database transaction, in a few statements. */
export type NewRows = {
  orders: Inserted<'orders'>[]
  attempts: Inserted<'attempts'>[]
  /**
   * Callbacks that run once orders and attempts are inserted, and may add
   * notes.
   */
  also: (() => Promise<void>)[]
  notes: Inserted<'notes'>[]
  events: NewEvent[]
}

type GatheredWrite<result> = {
  /**
   * The payer whose open payments are loaded for `write`, after the locks are
   * taken.
   */
  payer?: AskedPayer | undefined
  /**
   * Writes at once, or adds to the rows that are inserted at the end, or does
   * nothing.
   */
  write: (
    tables: StoreWriter,
    rows: NewRows,
    payers: LoadedPayers,
  ) => Promise<result>
  /**
   * Names of the locks that `write` needs, taken in this order. If an earlier
   * write of the same transaction needs one of them too, the rows of that
   * earlier write are inserted first, so that this one sees them.
   */
  locks: readonly string[]
}

type Write = (one: GatheredWrite<unknown>) => Promise<unknown>

const known = /* @__PURE__ */ new WeakMap<PaymentStore, Write>()

/**
 * Most writes in one database transaction, so that other writers wait only
 * briefly.
 */
const most = 25

/**
 * Runs the writes of several callers in one database transaction, because each
 * commit takes time. If the transaction fails, runs each write in one of its
 * own, unless the database itself failed.
 */
export async function writeGathered<result>(
  { store }: Pick<OrdersContext, 'store'>,
  { payer, write, locks }: GatheredWrite<result>,
): Promise<result> {
  const gathered = known.get(store) ?? createWrite(store)
  known.set(store, gathered)
  let results: result[] = []
  await gathered({
    payer,
    locks,
    write: async (tables, rows, payers) => {
      results = [await write(tables, rows, payers)]
    },
  })
  const [result] = results
  return result as result
}

function createWrite(store: PaymentStore): Write {
  return gatherCalls<GatheredWrite<unknown>, unknown>({
    work: (group) =>
      writeAgain({ store }, async (tables) => {
        for (const round of roundsOf(group)) await writeRound(tables, round)
        return group
      }),
    // Sort by lock: transactions that take locks in the same order cannot
    // deadlock.
    choose: (waiting) =>
      waiting
        .slice(0, most)
        .sort((one, other) => (one.locks.join() < other.locks.join() ? -1 : 1)),
    atOnce: 1,
    isWorthAlone,
  })
}

type Round = readonly GatheredWrite<unknown>[]

/**
 * Splits writes into rounds, so that no two writes of a round need the same
 * lock.
 */
function roundsOf(group: Round): Round[] {
  const rounds: GatheredWrite<unknown>[][] = []
  const taken = new Set<string>()
  for (const one of group) {
    const round = rounds.at(-1)
    if (round && !one.locks.some((lock) => taken.has(lock))) round.push(one)
    else {
      rounds.push([one])
      taken.clear()
    }
    for (const lock of one.locks) taken.add(lock)
  }
  return rounds
}

async function writeRound(tables: StoreWriter, round: Round): Promise<void> {
  const asked: AskedPayer[] = []
  for (const { payer, locks } of round) {
    if (!payer) continue
    for (const lock of locks) await tables.lock(lock)
    asked.push(payer)
  }
  const payers = await loadPayers(tables, asked)
  const rows = noRows()
  for (const { write } of round) await write(tables, rows, payers)
  await insertRows(tables, rows)
}

const noRows = (): NewRows => ({
  orders: [],
  attempts: [],
  also: [],
  notes: [],
  events: [],
})

/** Inserts the gathered rows, and empties the lists of them. */
async function insertRows(
  tables: StoreWriter,
  { orders, attempts, also, notes, events }: NewRows,
): Promise<void> {
  if (orders.length > 0) await tables.orders.insert(orders.splice(0))
  if (attempts.length > 0) await tables.attempts.insert(attempts.splice(0))
  for (const write of also.splice(0)) await write()
  if (notes.length > 0) await tables.notes.insert(notes.splice(0))
  if (events.length > 0) await tables.events.append(events.splice(0))
}
