import { peekDue } from '../lanes/findDue.js'
import type { LaneState } from '../lanes/laneState.js'
import { findWork } from '../lanes/openLane.js'
import { isMany, readLane } from '../lanes/readLane.js'
import type { FoundOrder } from '../records/findOrder.js'
import type { OrdersContext } from '../records/types.js'
import { replaceTransactions } from '../sends/replaceTransactions.js'
import { resendTransactions } from '../sends/resendTransactions.js'
import { StaleRecordError } from '../store/errors.js'
import { settleTransactions } from './settleTransactions.js'
import { takeDue } from './takeDue.js'
import { tellPreconfirmed } from './tellPreconfirmed.js'

/** What came of one look at a lane. */
export type LaneTick = {
  /** Orders the chain decided about, as they were written. */
  settled: readonly FoundOrder[]
  /** Something else was written that somebody may wait for. */
  isNews: boolean
  /** Nothing is in flight or due. */
  isIdle: boolean
  /** Milliseconds until the next look makes sense. */
  next: number
}

/** Milliseconds until the first look after something was sent or settled. */
const soon = 8

/**
 * Does for a lane, under its lease, all that can be done now: settles what the
 * chain decided, replaces what is stuck, sends again what was lost, and sends
 * what is due.
 *
 * @param interval milliseconds between two looks when nothing happens.
 * @throws {@link LeaseLostError} when someone else works on the lane; what is
 * known of it has to be forgotten.
 */
export async function workLane(
  context: OrdersContext,
  lane: LaneState,
  interval: number,
): Promise<LaneTick> {
  const work = await findWork(context, lane)
  if (work.suspended || !work.isBusy) {
    lane.idle = 0
    return { settled: [], isNews: false, isIdle: true, next: interval }
  }
  lane.tick++
  const looking = readLane(context, lane)
  const peeked = work.isMuch ? peekDue(context, lane) : undefined
  const view = await looking.finally(() => peeked)
  const settled = await again(() => settleTransactions(context, lane, view))
  await again(() => tellPreconfirmed(context, lane, view))
  // What is sent from here on depends on what the node said of the last.
  await lane.sending
  const replaced = await again(() => replaceTransactions(context, lane, view))
  await resendTransactions(context, lane, view)
  const taken = await takeDue(context, lane, view, await peeked)
  const looked = await taken.looked
  const first =
    looked && (await again(() => settleTransactions(context, lane, looked)))
  lane.isQuick = first !== undefined
  // Once the node has all that was sent, a look shows the rest.
  if (lane.isQuick) await lane.sending
  // A node that had no room is offered a little more each time.
  lane.window = Math.ceil(lane.window * 1.25)
  const isNews = taken.refused > 0
  const isActive = settled || isNews || replaced || taken.sent > 0
  // Many take a while: each look at them would ask for some.
  lane.idle = isActive ? (isMany(lane) ? 1 : 0) : lane.idle + 1
  const isNext = taken.isMore || lane.isQuick
  const next = isNext ? 0 : Math.min(interval, soon * 2 ** lane.idle)
  const all = [...(settled ?? []), ...(first ?? [])]
  return { settled: all, isNews, isIdle: false, next }
}

/** A row that was written in between is read again, a few times. */
async function again<result>(work: () => Promise<result>): Promise<result> {
  for (let tries = 1; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StaleRecordError) || tries === 5) throw error
    }
}
