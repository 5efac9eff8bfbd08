import { joinChanges, noChanges, tellOrder } from '../ledger/changes.js'
import {
  findEvidence,
  lastSecondOf,
  type OrderAttempt,
} from '../ledger/findEvidence.js'
import { observeFailure } from '../ledger/observeFailure.js'
import type { Evidence } from '../ledger/settleOrder.js'
import type { OrdersContext } from '../ledger/types.js'
import type { OrderRecord, OrderState } from '../store/types.js'
import type { Watch } from './checkReorg.js'
import { eraseSecrets } from './eraseSecrets.js'
import { findOpen } from './findOpen.js'
import { readFiles, type Step, takeSteps } from './orderFiles.js'
import { settleFindings } from './settleFindings.js'
import { writeUnit } from './writeUnit.js'

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
 */
export async function expireDue(
  context: OrdersContext,
  watch: Watch,
): Promise<void> {
  const { scope, heads } = watch
  const until = heads.latest.timestamp
  // Every row of a page gets a later look or none, so pages come to an end.
  for (;;) {
    const files = await context.store.read(async (tables) => {
      const orders = await tables.orders.find({
        lookDue: scope,
        until,
        limit: pageSize,
      })
      const ids = orders.map(({ id }) => id)
      return [...(await readFiles(tables, ids)).values()]
    })
    const asked = files.flatMap(({ order, attempts }) => {
      const attempt = attempts.find(({ number }) => number === order.attempt)
      return attempt ? [{ order, attempt }] : []
    })
    if (!asked.length) return
    await expirePage(context, watch, asked)
    if (files.length < pageSize) return
  }
}

async function expirePage(
  context: OrdersContext,
  watch: Watch,
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

type Judged = { order: OrderRecord; evidence: Evidence | undefined }

/** Both looks are at blocks named by number, the final one besides. */
async function judgeDue(
  context: OrdersContext,
  { client, scope, heads: { latest, finalized } }: Watch,
  due: readonly OrderAttempt[],
): Promise<Judged[]> {
  const isOver = (file: OrderAttempt, time: bigint) =>
    lastSecondOf(file.attempt) <= time
  const over = due.filter((file) => isOver(file, latest.timestamp))
  const [now, before] = await Promise.all([
    findOpen(client, scope, over, latest.number),
    finalized &&
      findOpen(
        client,
        scope,
        over.filter((file) => isOver(file, finalized.timestamp)),
        finalized.number,
      ),
  ])
  const judge = async (file: OrderAttempt): Promise<Evidence | undefined> => {
    const { order, attempt } = file
    const { nonce } = attempt
    const { number: block, timestamp } = latest
    const payer = attempt.payer ?? order.payer
    if (now.spent.has(nonce))
      // One order that cannot be explained must not keep the others waiting.
      return findEvidence(client, { ...file, block }).catch((error) => {
        const about = { ...scope, orderId: order.id }
        observeFailure(context, 'watch.failed', { about, error })
        return undefined
      })
    // Without a payer there is nobody whose nonce could have been spent.
    if (payer === undefined) return expiredAt(block, timestamp, true)
    const finalTime = before?.unused.get(nonce)
    if (finalized && finalTime !== undefined && isOver(file, finalTime))
      return expiredAt(finalized.number, finalTime, true)
    const time = now.unused.get(nonce)
    return time !== undefined && isOver(file, time)
      ? expiredAt(block, time, false)
      : undefined
  }
  return Promise.all(
    due.map(async (file) => ({
      order: file.order,
      evidence: over.includes(file) ? await judge(file) : undefined,
    })),
  )
}

function expiredAt(
  blockNumber: bigint,
  blockTime: bigint,
  final: boolean,
): Evidence {
  return { kind: 'expired', blockNumber, blockTime, final }
}

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
