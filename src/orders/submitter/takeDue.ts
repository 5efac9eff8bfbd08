import { wait } from '../../core/wait.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { feesOf, type SubmitterFees } from './feesOf.js'
import { type FoundDue, findDue, mostDue, openAll } from './findDue.js'
import { groupByPayer } from './groupByPayer.js'
import { judgeDue, roomOf } from './planSending.js'
import { isMany, readSubmitter, type SubmitterView } from './readSubmitter.js'
import { type Refusal, refuseDue } from './refuseDue.js'
import { type DueDraft, type RehearsedDue, rehearseDue } from './rehearseDue.js'
import { chunkSize, sendDrafts } from './sendDrafts.js'
import { settleNextNonce } from './settleNextNonce.js'
import type { SubmitterState } from './submitterState.js'
import { isResting } from './walletRest.js'

/** What a tick did with what was due. */
export type Taken = {
  sent: number
  refused: number
  /** More is due than there was room for. */
  isMore: boolean
  /**
   * True when an order would be refused, and the next look judges it again
   * first.
   */
  isDoubted: boolean
  /** A look at the chain while the last of many were signed. */
  looked?: Promise<SubmitterView | undefined>
}

/**
 * Takes orders that are due, the soonest deadline first: judges and rehearses
 * them, writes down what is sent, and sends it. Of many it does not wait for the
 * node's answers: they are in `submitter.sending`.
 */
export async function takeDue(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  ahead: FoundDue | undefined,
): Promise<Taken> {
  const { policy } = context
  const taken: Taken = {
    sent: 0,
    refused: 0,
    isMore: false,
    isDoubted: false,
  }
  const limit = Math.min(roomOf(submitter, policy), mostDue)
  if (limit === 0 || isResting(submitter, 'order')) return taken
  const until = view.head.timestamp
  const found = await findDue(context, submitter, {
    until,
    // Orders that wait for their next try do not count.
    limit: limit + submitter.aside.size(),
    ahead,
  })
  const files = found
    .filter(({ order }) => !submitter.aside.isWaiting(order.id))
    .slice(0, limit)
  if (files.length > 0 && !(await settleNextNonce(context, submitter, view)))
    return taken
  const fees = feesOf(view)
  const { open, refusals } = sortDue(files, view, policy)
  const sends: Promise<void>[] = []
  const ready: DueDraft[] = []
  /** Whole chunks, as long as there may be more to fill them. */
  const send = async (isLast: boolean): Promise<void> => {
    while (ready.length >= (isLast ? 1 : chunkSize)) {
      const drafts = ready.splice(0, chunkSize)
      // The node has time for it now; a failure is met again by the next look.
      if (isLast && ready.length === 0 && isMany(submitter))
        taken.looked = readSubmitter(context, submitter).catch(() => undefined)
      const options = { drafts, fees, sends }
      taken.sent += await sendDrafts(context, submitter, view, options)
    }
  }
  const groups = groupByPayer(open)
  const coming: Promise<RehearsedDue[]>[] = []
  await openAll(context, submitter, groups[0] ?? [])
  for (const group of groups) {
    // One is on its way before the next one takes the time.
    if (coming.length > 0) await wait(1)
    const rehearsing = rehearseDue(context, submitter, group, fees)
    // Awaited below; without this handler an early failure would be unhandled.
    rehearsing.catch(() => undefined)
    coming.push(rehearsing)
  }
  try {
    let left = coming.length
    for await (const rehearsed of asTheyEnd(coming)) {
      left--
      const { drafts, refused } = sortRehearsed(
        submitter,
        rehearsed,
        fees,
        policy,
      )
      refusals.push(...refused)
      ready.push(...drafts)
      for (const { file } of drafts) {
        submitter.aside.clear(file.order.id)
        submitter.doubts.delete(file.order.id)
      }
      await send(left === 0)
    }
    const certain = refusals.filter((refusal) => isCertain(submitter, refusal))
    taken.isDoubted = certain.length < refusals.length
    taken.refused = certain.length
    await refuseDue(context, submitter, certain, view.head.timestamp)
  } finally {
    await Promise.allSettled(coming)
    submitter.sending = Promise.all(sends)
    submitter.sending.catch(() => undefined)
    submitter.due = new Map()
    if (!isMany(submitter)) await submitter.sending
  }
  const isActive = taken.sent + taken.refused > 0
  taken.isMore =
    isActive && files.length === limit && roomOf(submitter, policy) > 0
  return taken
}

/** What is due, and what its record alone speaks against. */
function sortDue(
  files: readonly StoredOrder[],
  { head }: SubmitterView,
  policy: OrdersContext['policy'],
): { open: StoredOrder[]; refusals: Refusal[] } {
  const open: StoredOrder[] = []
  const refusals: Refusal[] = []
  for (const file of files) {
    const judged = judgeDue(file, head, policy)
    if (judged) refusals.push({ file, ...judged })
    else open.push(file)
  }
  return { open, refusals }
}

/** Reasons that come from the record alone, without the node. */
const ownReasons: readonly (string | undefined)[] = [
  undefined,
  'otherPayment',
  'sealBroken',
  'wrongSender',
]

/**
 * True when an order may be refused now. A reason that comes from the node must
 * be the same at two looks in a row, because one answer may be wrong.
 */
function isCertain(
  { doubts }: SubmitterState,
  { file, reason }: Refusal,
): boolean {
  const { id } = file.order
  if (ownReasons.includes(reason)) return true
  const isRepeated = doubts.get(id) === reason
  if (isRepeated) doubts.delete(id)
  else doubts.set(id, reason ?? '')
  return isRepeated
}

/** Yields each result as soon as it is there, so that slow ones come last. */
async function* asTheyEnd<result>(
  works: readonly Promise<result>[],
): AsyncGenerator<result> {
  const left = new Map(
    works.map((work, at) => [at, work.then((result) => ({ at, result }))]),
  )
  while (left.size > 0) {
    const { at, result } = await Promise.race(left.values())
    left.delete(at)
    yield result
  }
}

function sortRehearsed(
  { aside }: SubmitterState,
  rehearsed: readonly RehearsedDue[],
  { maxFeePerGas }: SubmitterFees,
  { maxFee }: OrdersContext['policy'],
): { drafts: DueDraft[]; refused: Refusal[] } {
  const drafts: DueDraft[] = []
  const refused: Refusal[] = []
  for (const { file, draft, reason, failure } of rehearsed) {
    if (failure) aside.put(file.order.id, failure, file.order.id)
    else if (!draft) refused.push({ file, reason })
    else if (maxFee !== undefined && draft.gas * maxFeePerGas > maxFee)
      refused.push({ file, reason: 'feeTooHigh' })
    else drafts.push(draft)
  }
  return { drafts, refused }
}
