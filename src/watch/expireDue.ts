import type { Watch } from '../forks/checkReorg.js'
import { readFiles, type Step, takeSteps } from '../forks/orderFiles.js'
import { writeUnit } from '../forks/writeUnit.js'
import { joinChanges, noChanges, tellOrder } from '../ledger/changes.js'
import { lastSecondOf, type OrderAttempt } from '../ledger/findEvidence.js'
import { findPaid } from '../reconcile/findPaid.js'
import { settleFindings } from '../reconcile/settleFindings.js'
import type { OrdersContext } from '../records/types.js'
import type { OrderState } from '../store/types.js'
import { eraseSecrets } from './eraseSecrets.js'
import { type DueWatch, judgeDue, payerOf } from './judgeDue.js'

const pageSize = 200

/** What needs no further look. */
const settled: readonly OrderState[] = ['captured', 'canceled', 'consumed']

/** Seconds after which what could not be told is asked again. */
const lookAgain = 15n

/**
 * Asks the chain about every order that is due for it: whether its window is
 * over with the nonce unused, in one and the same block, or what spent it; and
 * tells once when a deadline nears.
 *
 * What is in flight for an order is the lane's to end.
 *
 * @throws what kept it from seeing whether drafts without a payer are paid,
 * once all others are done.
 */
export async function expireDue(
  context: OrdersContext,
  watch: Watch,
): Promise<void> {
  const { latest } = watch.heads
  let paid: PromiseSettledResult<void> | undefined
  // Every row of a page gets a later look or none, so pages come to an end.
  for (;;) {
    const due = await readDue(context, watch)
    if (!due.length) break
    const isAsked = due.some(
      (file) =>
        !payerOf(file) && lastSecondOf(file.attempt) <= latest.timestamp,
    )
    if (isAsked && !paid) {
      const [seen] = await Promise.allSettled([findPaid(context, watch)])
      paid = seen
      continue
    }
    const isSeen = paid?.status === 'fulfilled'
    await expirePage(context, { ...watch, isSeen }, due)
    if (due.length < pageSize) break
  }
  if (paid?.status === 'rejected') throw paid.reason
}

async function readDue(
  { store }: OrdersContext,
  { scope, heads }: Watch,
): Promise<OrderAttempt[]> {
  const until = heads.latest.timestamp
  const files = await store.read(async (tables) => {
    const lookDue = { lookDue: scope, until, limit: pageSize }
    const orders = await tables.orders.find(lookDue)
    return readFiles(
      tables,
      orders.map(({ id }) => id),
    )
  })
  return [...files.values()].flatMap(({ order, attempts }) => {
    const attempt = attempts.find(({ number }) => number === order.attempt)
    return attempt ? [{ order, attempt }] : []
  })
}

async function expirePage(
  context: OrdersContext,
  watch: DueWatch,
  due: readonly OrderAttempt[],
): Promise<void> {
  const judged = await judgeDue(context, watch, due)
  await writeUnit(
    context,
    async (tables) => {
      const findings = judged.flatMap(({ order, evidence }) =>
        evidence
          ? [{ orderId: order.id, attempt: order.attempt, evidence }]
          : [],
      )
      const found = await settleFindings(context, tables, findings, [
        eraseFinal,
        postpone(context, watch),
      ])
      const others = judged.filter(({ evidence }) => !evidence)
      const ids = others.map(({ order }) => order.id)
      const files = [...(await readFiles(tables, ids)).values()]
      const postponed = files.map((file) =>
        takeSteps(file, [postpone(context, watch)]),
      )
      return joinChanges([found, ...postponed])
    },
    { lease: watch.lease },
  )
}

const eraseFinal: Step = (file) =>
  file.order.grade === 'finalized' ? eraseSecrets(file) : noChanges()

/** Sets the next look of what is not over, and tells of a deadline that nears. */
function postpone(
  { policy, now }: OrdersContext,
  { heads: { latest } }: Watch,
): Step {
  return ({ order, attempts }) => {
    const attempt = attempts.find(({ number }) => number === order.attempt)
    const { timestamp } = latest
    if (!attempt || order.lookDue === undefined || order.lookDue > timestamp)
      return noChanges()
    const end = lastSecondOf(attempt)
    const lookDue = end > timestamp ? end : timestamp + lookAgain
    const isNear =
      order.state === 'stored' &&
      order.wish === undefined &&
      order.deadline > timestamp
    if (settled.includes(order.state))
      return { ...noChanges(), orders: [{ ...order, lookDue: undefined }] }
    if (!isNear) return { ...noChanges(), orders: [{ ...order, lookDue }] }
    const isDue =
      policy.capture === 'beforeDeadline' &&
      !order.held &&
      // The buyer wants it canceled, though that could not be sent.
      attempt.cancellation === undefined
    const told = tellOrder(
      order,
      {
        type: 'deadlineNear',
        at: now(),
        data: { deadline: String(order.deadline) },
      },
      { lookDue, ...(isDue ? { wish: 'capture', sendDue: 0n } : {}) },
    )
    return { ...noChanges(), orders: [told.order], events: [told.event] }
  }
}
