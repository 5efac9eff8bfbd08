import type { CaptureKeyError } from '../../batches/keys/errors.js'
import { endOfTime } from '../../core/clock.js'
import { ordersOf } from '../../store/movements.js'
import type { OrderRecord, StoreReader } from '../../store/types.js'
import { parseSubmitterValue } from '../account/accountNonces.js'
import { isOpening, openBeside } from '../account/openSeals.js'
import { isClaimed } from '../account/openSubmitter.js'
import { type SubmitterState, submitterKey } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { putAside } from '../loop/putAside.js'
import { kindOf } from '../model/kindOf.js'
import { loadOrders } from '../model/loadOrders.js'
import { capturesByKey } from '../model/sendersOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { isSuspended } from '../model/storeState.js'
import { recallKeyFault } from './findKeyFault.js'
import { isResting } from './signDrafts.js'

type SubmitterWork = {
  suspended: boolean
  /**
   * True when transactions are in flight, or a requested capture waits to be
   * stored with its transaction.
   */
  isBusy: boolean
  /**
   * Chain time, in Unix seconds, at which the first order is due; 0 if that is
   * unclear. `undefined` when no order is due, or `isBusy`.
   */
  due: bigint | undefined
  /**
   * True when another shop, whose orders we do not send, waits for this
   * submitter.
   */
  isClaimed: boolean
}

/**
 * Number of due orders to read, at most, to learn when the first one is due.
 */
const mostRead = 16

/** Milliseconds after which the transactions in flight are loaded again. */
const maxAge = 2000

/**
 * Loads the transactions in flight unless they were loaded within `maxAge`, and
 * finds out whether orders are due.
 */
export async function findWork(
  { store, recipients: own }: OrdersContext,
  submitter: SubmitterState,
): Promise<SubmitterWork> {
  const { inFlight, wallet, joins } = submitter
  const { recipients } = submitter.orders
  const now = performance.now()
  const isKnown = inFlight.rows.length > 0 && now - inFlight.loadedAt < maxAge
  return store.read(async (tables) => {
    const nothing = {
      suspended: false,
      isBusy: false,
      due: undefined,
      isClaimed: await isClaimed(tables, { recipients: own }, wallet.submitter),
    }
    if (await isSuspended(tables)) return { ...nothing, suspended: true }
    if (!isKnown) await loadSubmitter(tables, submitter, now)
    if (inFlight.rows.length > 0 || joins.isAwaited)
      return { ...nothing, isBusy: true }
    const due = await tables.orders.find({
      sendDue: wallet.submitter,
      recipients,
      until: endOfTime,
      limit: mostRead,
    })
    const times = due.flatMap(({ sendDue }) => sendDue ?? [])
    const [first] = times.sort((one, other) => (one < other ? -1 : 1))
    // Orders are sorted by deadline, so one that was not read may be due
    // earlier.
    return { ...nothing, due: due.length === mostRead ? 0n : first }
  })
}

/** True when an order is due now. Asks only the database. */
export async function hasDue(
  { store }: Pick<OrdersContext, 'store'>,
  { wallet, orders: { recipients }, pace: { time = 0n } }: SubmitterState,
): Promise<boolean> {
  const due = await store.read(({ orders }) =>
    orders.find({
      sendDue: wallet.submitter,
      recipients,
      until: time,
      limit: 1,
    }),
  )
  return due.length > 0
}

async function loadSubmitter(
  tables: StoreReader,
  { wallet, nonces, inFlight, orders }: SubmitterState,
  now: number,
): Promise<void> {
  const value = await tables.getValue(submitterKey(wallet.submitter))
  nonces.keep(parseSubmitterValue(value))
  const rows = await tables.transactions.find({ inFlight: wallet.submitter })
  inFlight.load(rows, now)
  const orderIds = ordersOf(rows)
  orders.forgetRecordedExcept(orderIds)
  if (!inFlight.lacksEnds() || orderIds.length === 0) return
  for (const attempt of await tables.attempts.find({ orderIds }))
    inFlight.rememberEnds(attempt)
}

/** Most orders to send in one poll. */
export const mostDue = 500

/**
 * Finds the orders that are due by the chain's time, the soonest deadline
 * first. Adds the orders in `joins`, whose capture was requested just now.
 */
export async function findDue(
  context: OrdersContext,
  submitter: SubmitterState,
  { until, most }: { until: bigint; most: number },
): Promise<readonly StoredOrder[]> {
  const { key } = submitter.wallet
  const fault = key && recallKeyFault(key)
  // Load more than needed, because orders that wait for their next try are left
  // out.
  const wanted = fault ? mostDue : most
  const limit = wanted + submitter.aside.size() + submitter.openings.late()
  const storedOrders = await loadSendDue(context, submitter, until, limit)
  const all = [...storedOrders, ...submitter.joins.offered()]
  submitter.orders.rememberDue(all)
  return all
    .filter((stored) => isReady(submitter, stored))
    .filter(({ order }) => isReadable(submitter, order))
    .filter(({ order }) => !(fault && isStopped(submitter, order, fault)))
    .filter((stored) => !isOpening(context, submitter, stored))
    .filter((stored) => openBeside(context, submitter, stored))
    .slice(0, most)
}

/** True when an order does not wait for its next try after a failure. */
function isReady({ aside }: SubmitterState, { order }: StoredOrder): boolean {
  return !aside.isWaiting(order.id) && !isResting(aside, order.id)
}

/**
 * True when this process has the module for the order's kind of payment.
 * Otherwise reports that, and the order waits.
 */
function isReadable(submitter: SubmitterState, order: OrderRecord): boolean {
  try {
    kindOf(submitter, order)
    return true
  } catch (error) {
    putAside(submitter.aside, order.id, error, order.id)
    return false
  }
}

/**
 * True for a payment that a capture key cannot capture now. It waits, and takes
 * no place of an order that the key can still send.
 */
function isStopped(
  { wallet, aside }: SubmitterState,
  order: OrderRecord,
  fault: CaptureKeyError,
): boolean {
  if (order.requested === 'cancel' || !capturesByKey(wallet, order))
    return false
  aside.put(order.id, fault, order.id)
  return true
}

function loadSendDue(
  { store }: OrdersContext,
  { wallet, orders: { recipients } }: SubmitterState,
  until: bigint,
  limit: number,
): Promise<StoredOrder[]> {
  return store.read(async (tables) => {
    const found = await loadOrders(tables, {
      sendDue: wallet.submitter,
      recipients,
      until,
      limit,
    })
    return [...found.values()]
  })
}
