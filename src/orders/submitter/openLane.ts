import { LeaseLostError } from '../../store/errors.js'
import type { StoreReader } from '../../store/types.js'
import { endsOf } from '../model/endsOf.js'
import type { Aside } from '../model/putAside.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import { isClaimed } from './claimLane.js'
import {
  type LaneState,
  laneKey,
  newLane,
  readerOf,
  readLaneValue,
  windowKey,
} from './laneState.js'

/** Milliseconds after which open transactions are read again. */
const maxAge = 2000

/**
 * Takes the lane or keeps it. A lane whose fence is new starts from the store;
 * `undefined` when someone else works on it.
 */
export async function openLane(
  context: OrdersContext,
  {
    wallet,
    lane,
    aside,
  }: { wallet: OrderWallet; lane: LaneState | undefined; aside: Aside },
): Promise<LaneState | undefined> {
  const { store, policy, owner, recipients } = context
  const now = performance.now()
  // A third is left for the work that is done under it.
  if (lane && now - lane.leasedAt < policy.lease / 3) return lane
  const lease = await store.takeLease({
    key: laneKey(wallet.lane),
    owner,
    milliseconds: policy.lease,
  })
  if (!lease) return undefined
  if (lane?.lease.fence === lease.fence)
    return Object.assign(lane, { lease, leasedAt: now })
  const reader = readerOf(context, wallet.lane.chainId)
  return newLane(wallet, reader, { lease, leasedAt: now, aside, recipients })
}

/**
 * Keeps a lane through long work.
 *
 * @throws {@link LeaseLostError} when someone else works on it by now.
 */
export async function keepLane(
  context: OrdersContext,
  lane: LaneState,
): Promise<void> {
  const kept = await openLane(context, {
    wallet: lane.wallet,
    lane,
    aside: lane.aside,
  })
  if (kept !== lane) throw new LeaseLostError(lane.lease)
}

/** What the store has for a lane to do. */
export type LaneWork = {
  suspended: boolean
  /** Orders are due by then, or something is in flight. */
  isBusy: boolean
  /** So many orders are due that they are worth making ready ahead. */
  isMuch: boolean
  /** True when someone whose orders we do not send waits for the lane. */
  isClaimed: boolean
}

/** Orders from which on it pays to read them while the chain is looked at. */
const much = 16

/**
 * Reads what is open, where that is not known, and whether orders are due.
 */
export async function findWork(
  context: OrdersContext,
  lane: LaneState,
): Promise<LaneWork> {
  const { store } = context
  const { recipients } = lane
  const now = performance.now()
  const isKnown = lane.open.length > 0 && now - lane.loadedAt < maxAge
  return store.read(async (tables) => {
    const { suspended } = Object(await tables.getValue('store'))
    const nothing = {
      suspended: false,
      isBusy: false,
      isMuch: false,
      isClaimed: await isClaimed(tables, context, lane.wallet.lane),
    }
    if (suspended === true) return { ...nothing, suspended }
    if (!isKnown) {
      await loadLane(tables, lane)
      lane.loadedAt = now
    }
    if (lane.open.length > 0) return { ...nothing, isBusy: true }
    const due = await tables.orders.find({
      sendDue: lane.wallet.lane,
      recipients,
      until: endOfTime,
      limit: much,
    })
    const isMuch = due.length === much
    return { ...nothing, isBusy: due.length > 0, isMuch }
  })
}

/** What is due later has to be compared with the chain's time, not ours. */
const endOfTime = 2n ** 62n

async function loadLane(tables: StoreReader, lane: LaneState): Promise<void> {
  const { wallet } = lane
  const value = await tables.getValue(laneKey(wallet.lane))
  lane.value = readLaneValue(value)
  lane.open = await tables.transactions.find({ openIn: wallet.lane })
  const orderIds = [
    ...new Set(lane.open.flatMap(({ orderId }) => orderId ?? [])),
  ]
  for (const id of lane.recorded.keys())
    if (!orderIds.includes(id)) lane.recorded.delete(id)
  const unknown = lane.open.some((row) => !lane.windows.has(windowKey(row)))
  if (!unknown || orderIds.length === 0) return
  for (const attempt of await tables.attempts.find({ orderIds }))
    lane.windows.set(
      windowKey({ orderId: attempt.orderId, attempt: attempt.number }),
      endsOf(attempt),
    )
}
