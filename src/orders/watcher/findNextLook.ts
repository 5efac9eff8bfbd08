import type {
  Destination,
  EventRecord,
  StoreReader,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { WatchPace } from './paceOf.js'
import type { WatchMemory } from './watchState.js'

/** Most events per query. */
const pageSize = 200

/**
 * Types of events after which to poll the chain at once, besides those that
 * name a block.
 */
const urgentTypes: readonly string[] = ['refundRequested']

/** What the last successful poll found. */
export type LastLook = {
  /** Time of the newest block in Unix seconds. */
  time: bigint
  /** `performance.now()` at the end of the poll. */
  at: number
  /** Cursor of the newest event that started a poll. */
  calledBy: bigint
}

export type NextLook = {
  /** Milliseconds from now until the next poll; 0 once after each new event. */
  milliseconds: number
  /**
   * True while no order waits for the chain, and it need not be polled as often
   * as if one did.
   */
  isQuiet: boolean
  /** True while no order waits for the chain. */
  isIdle: boolean
  calledBy: bigint
}

/**
 * Decides when to poll a chain again. Reads only the store.
 * - At once after a new event that names a block: the poll compares the payment
 *   with the chain, and may fulfil its order. If that was not possible because
 *   the node is behind, the next poll follows after `interval`.
 * - After `interval` while new payments are still compared with the chain.
 * - When the deadline of an order is near or over.
 * - Otherwise after the quiet interval, even while transactions are in flight:
 *   the submitter waits for those, and writes an event that names the block.
 */
export async function findNextLook(
  context: Pick<OrdersContext, 'store'>,
  {
    destinations,
    memory: { fresh, freshTo },
    last: { at, time, calledBy },
    pace: { interval, quiet },
  }: {
    destinations: readonly Destination[]
    memory: WatchMemory
    last: LastLook
    pace: WatchPace
  },
): Promise<NextLook> {
  const since = performance.now() - at
  const full = Math.max(0, interval - since)
  const busy = { milliseconds: full, isQuiet: false, isIdle: false, calledBy }
  if (fresh.size > 0) return busy
  const { events, due } = await context.store.read((tables) =>
    loadReasons(tables, { destinations, freshTo, until: time }),
  )
  const urgent = events.filter(isUrgent)
  const newest = urgent.at(-1)?.cursor ?? calledBy
  const isIdle = urgent.length === 0
  if (quiet <= interval) return { ...busy, isIdle }
  if (newest > calledBy) return { ...busy, milliseconds: 0, calledBy: newest }
  if (!isIdle) return busy
  const rest = Math.max(0, quiet - since)
  const untilDue = due === undefined ? rest : 1000 * Number(due - time) - since
  const milliseconds = Math.min(rest, Math.max(full, untilDue))
  return { milliseconds, isQuiet: true, isIdle, calledBy }
}

const isUrgent = ({ type, data }: EventRecord): boolean =>
  urgentTypes.includes(type) || data.blockNumber !== undefined

/**
 * Seconds from now in which to search for the next order that must be checked.
 */
const horizon = 3600n

async function loadReasons(
  tables: Pick<StoreReader, 'events' | 'orders'>,
  {
    destinations,
    freshTo = 0n,
    until,
  }: {
    destinations: readonly Destination[]
    freshTo: bigint | undefined
    until: bigint
  },
) {
  const events = await tables.events.find({
    destinations,
    after: freshTo,
    limit: pageSize,
  })
  const [next] = await tables.orders.find({
    lookDue: destinations,
    until: until + horizon,
    limit: 1,
  })
  return { events, due: next?.lookDue }
}
