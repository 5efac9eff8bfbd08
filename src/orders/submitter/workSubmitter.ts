import { StaleRecordError } from '../../store/errors.js'
import { putAside } from '../model/putAside.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { adoptOrders } from './adoptOrders.js'
import { believeHead } from './believeHead.js'
import { peekDue } from './findDue.js'
import { findWork } from './openSubmitter.js'
import { roomOf } from './planSending.js'
import { isMany, readSubmitter, type SubmitterView } from './readSubmitter.js'
import { replaceTransactions } from './replaceTransactions.js'
import { resendTransactions } from './resendTransactions.js'
import { settleTransactions } from './settleTransactions.js'
import type { SubmitterState } from './submitterState.js'
import { takeDue } from './takeDue.js'
import { tellPreconfirmed } from './tellPreconfirmed.js'
import { watchWallet } from './watchWallet.js'

/** What came of one look at a submitter. */
export type SubmitterTick = {
  /** Orders the chain decided about, as they were written. */
  settled: readonly StoredOrder[]
  /** Something else was written that somebody may wait for. */
  isNews: boolean
  /** Nothing is in flight or due. */
  isIdle: boolean
  /** True when someone whose orders we do not send waits for the submitter. */
  isClaimed: boolean
  /** True when there was no room for more, so that orders may still be due. */
  isFull: boolean
  /** Milliseconds until the next look makes sense. */
  next: number
}

/** Milliseconds until the first look after something was sent or settled. */
const soon = 8

/**
 * Does for a submitter, under its lease, all that can be done now: settles what the
 * chain decided, replaces what is stuck, sends again what was lost, and sends
 * what is due.
 *
 * @param interval milliseconds between two looks when nothing happens.
 * @throws {@link LeaseLostError} when someone else works on the submitter; what is
 * known of it has to be forgotten.
 */
export async function workSubmitter(
  context: OrdersContext,
  submitter: SubmitterState,
  interval: number,
): Promise<SubmitterTick> {
  await again(() => adoptOrders(context, submitter))
  const work = await findWork(context, submitter)
  const { isClaimed } = work
  const nothing = { settled: [], isNews: false, isFull: false }
  if (work.suspended || !work.isBusy) {
    submitter.idle = 0
    return { ...nothing, isClaimed, isIdle: true, next: interval }
  }
  submitter.tick++
  const looking = readSubmitter(context, submitter)
  const peeked = work.isMuch ? peekDue(context, submitter) : undefined
  const view = await looking.finally(() => peeked)
  if (!believeHead(submitter, view, context.now() / 1000n))
    return { ...nothing, isClaimed, isIdle: false, next: interval }
  const step = steps(submitter)
  await step('wallet', () => watchWallet(context, submitter, view))
  const settle = (shown: SubmitterView) =>
    step('settling', () =>
      again(() => settleTransactions(context, submitter, shown)),
    )
  const settled = await settle(view)
  await step('preconfirmations', () =>
    again(() => tellPreconfirmed(context, submitter, view)),
  )
  // What is sent from here on depends on what the node said of the last.
  await submitter.sending
  const replaced = await step('replacements', () =>
    again(() => replaceTransactions(context, submitter, view)),
  )
  await step('resending', () => resendTransactions(context, submitter, view))
  const isFull = roomOf(submitter, context.policy) === 0
  const found = await peeked
  const taken = await step('sending', () =>
    takeDue(context, submitter, view, found),
  )
  const looked = await taken?.looked
  const first = looked && (await settle(looked))
  submitter.isQuick = first !== undefined
  // Once the node has all that was sent, a look shows the rest.
  if (submitter.isQuick) await submitter.sending
  // A node that had no room is offered a little more each time.
  submitter.window = Math.ceil(submitter.window * 1.25)
  const isNews = taken !== undefined && taken.refused > 0
  const isActive = settled || isNews || replaced || (taken && taken.sent > 0)
  // Many take a while: each look at them would ask for some.
  submitter.idle = isActive ? (isMany(submitter) ? 1 : 0) : submitter.idle + 1
  const isNext = taken?.isMore || submitter.isQuick || taken?.isDoubted
  const next = isNext ? 0 : Math.min(interval, soon * 2 ** submitter.idle)
  const all = [...(settled ?? []), ...(first ?? [])]
  return { settled: all, isNews, isIdle: false, isClaimed, isFull, next }
}

/**
 * Runs the steps of a look. If a node or signer fails in one step, the step is
 * put aside for a while and the others go on.
 */
function steps({ aside }: SubmitterState) {
  return async <result>(
    name: string,
    work: () => Promise<result>,
  ): Promise<result | undefined> => {
    if (aside.isWaiting(name)) return undefined
    try {
      const result = await work()
      aside.clear(name)
      return result
    } catch (error) {
      putAside(aside, name, error)
      return undefined
    }
  }
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
