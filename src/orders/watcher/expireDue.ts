import { LeaseLostError } from '../../store/errors.js'
import type { OrderState } from '../../store/types.js'
import { noChanges, withEvent } from '../model/changes.js'
import type { Step } from '../model/collectChanges.js'
import { lastSecondOf } from '../model/endsOf.js'
import { loadOrders } from '../model/loadOrders.js'
import { lookAgain } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { isOver, type Judged, judgeExpiry, payerOf } from './judgeExpiry.js'
import { settleTransfers } from './reconcileDestination.js'
import { openApart } from './tryStep.js'
import type { SureWatch, Watch, WatchMemory } from './watchState.js'
import { writeFindings } from './writeFindings.js'

const pageSize = 200

/** States that need no further look. */
const settled: readonly OrderState[] = ['captured', 'canceled', 'consumed']

/** Seconds until the second look that confirms a draft as unpaid. */
const unpaidAgain = 2n

/** Seconds until the memory drops a draft that one look found unpaid. */
const forgetAfter = 3600n

/** The name of the expiry step in the list of failures. */
export const expiryStep = 'expiry'

/** The name, in the list of failures, of the search for payments of drafts. */
const draftsStep = 'drafts'

/**
 * Asks the chain about every order whose look is due: one block must show that
 * the window is over and the nonce unused; otherwise a transaction spent the
 * nonce. Also reports once that a deadline is near, which needs no answer of
 * the node. If the node gives no answer, puts the orders aside and asks again
 * later.
 *
 * Does not end transactions in flight: the submitter does.
 */
export async function expireDue(
  context: OrdersContext,
  watch: SureWatch,
): Promise<void> {
  const { memory, heads } = watch
  const { timestamp } = heads.latest
  const apart = openApart(watch, { step: expiryStep, time: timestamp })
  let isSeen: boolean | undefined
  let isAnswering = !apart.isWaiting(expiryStep)
  const again = timestamp + lookAgain
  // Every row of a page gets a later look or none, so the loop ends.
  for (;;) {
    const due = await loadLookDue(context, watch)
    if (!due.length) break
    // All writes below rely on the newest block's time.
    await heads.confirm()
    const isAsked = due.some(
      (stored) => !payerOf(stored) && isOver(stored, timestamp),
    )
    if (isAsked && isSeen === undefined) {
      isSeen = await settleTransfers(context, watch).then(
        () => true,
        (error: unknown) => {
          if (error instanceof LeaseLostError) throw error
          apart.put(draftsStep, error, again)
          return false
        },
      )
      continue
    }
    const dueWatch = { ...watch, apart, isSeen: isSeen === true }
    const judged = isAnswering
      ? await judgeExpiry(context, dueWatch, due).catch((error: unknown) => {
          apart.put(expiryStep, error, again)
          return undefined
        })
      : undefined
    isAnswering = judged !== undefined
    await writePage(context, watch, judged ?? due.map(unjudged))
    if (due.length < pageSize) break
  }
  forgetUnpaid(memory, timestamp)
  apart.close()
}

/** Without an answer, the order only gets its next look. */
const unjudged = ({ order }: StoredOrder): Judged => ({
  order,
  evidence: undefined,
})

function forgetUnpaid({ unpaid }: WatchMemory, time: bigint): void {
  for (const [id, since] of unpaid)
    if (since + forgetAfter < time) unpaid.delete(id)
}

async function loadLookDue(
  { store }: OrdersContext,
  { destination, heads }: Watch,
): Promise<StoredOrder[]> {
  const until = heads.latest.timestamp
  const lookDue = { lookDue: destination, until, limit: pageSize }
  const found = await store.read((tables) => loadOrders(tables, lookDue))
  return [...found.values()]
}

async function writePage(
  context: OrdersContext,
  watch: SureWatch,
  judged: readonly Judged[],
): Promise<void> {
  const findings = judged.flatMap(({ order, evidence }) =>
    evidence ? [{ orderId: order.id, attempt: order.attempt, evidence }] : [],
  )
  const ids = judged.map(({ order }) => order.id)
  await writeFindings(context, watch, {
    findings,
    ids,
    addMore: async (collected) => {
      for (const id of ids) collected.apply(id, [postponeLook(context, watch)])
    },
  })
}

/**
 * Sets the next look of an open order, and reports that its deadline is near.
 */
function postponeLook(
  { policy, now }: OrdersContext,
  { heads: { latest }, memory: { unpaid } }: Watch,
): Step {
  return ({ order, attempt }) => {
    const { timestamp } = latest
    if (order.lookDue === undefined || order.lookDue > timestamp)
      return noChanges()
    const end = lastSecondOf(attempt)
    // Only a look at a later block may end an unpaid draft.
    const pause = unpaid.get(order.id) === timestamp ? unpaidAgain : lookAgain
    const lookDue = end > timestamp ? end : timestamp + pause
    const isNear =
      order.state === 'stored' &&
      order.requested === undefined &&
      order.deadline > timestamp
    if (settled.includes(order.state))
      return { ...noChanges(), orders: [{ ...order, lookDue: undefined }] }
    if (!isNear) return { ...noChanges(), orders: [{ ...order, lookDue }] }
    const isDue =
      policy.capture === 'beforeDeadline' &&
      order.total === 'amount' &&
      !order.needsReview &&
      // The buyer requested a cancellation, even if it could not be sent.
      attempt.cancellation === undefined
    const reported = withEvent(
      order,
      {
        type: 'deadlineNear',
        at: now(),
        data: { deadline: String(order.deadline) },
      },
      { lookDue, ...(isDue ? { requested: 'capture', sendDue: 0n } : {}) },
    )
    return {
      ...noChanges(),
      orders: [reported.order],
      events: [reported.event],
    }
  }
}
