import {
  noChanges,
  withEvent,
  writeChanges,
} from '../../orders/model/changes.js'
import { OrdersSetupError } from '../../orders/model/errors.js'
import { settleOrder } from '../../orders/model/settleOrder.js'
import { DuplicateRecordError } from '../../store/errors.js'
import type {
  Destination,
  OrderRecord,
  StoreWriter,
  SubscriptionRecord,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { decodePermission } from '../permission/permissionJson.js'
import { chargeOrderId } from '../schedule/chargeIds.js'
import { planSchedule } from '../schedule/planSchedule.js'
import type { StoredSubscription } from '../schedule/showSubscription.js'
import type { ScheduleStep } from '../schedule/types.js'
import { fateOf, newestCount, watchCharges } from '../schedule/watchCharges.js'
import { loadSubscription, type SubscriptionsDesk } from './desk.js'
import { buildCharge, insertCharge } from './writeCharge.js'

const pageSize = 100

/** What one look at the schedules of a destination did. */
export type ScheduledLook = {
  /** Charges that became due, tries included. */
  charged: number
  /** Ids of subscriptions that failed, with the error. */
  failed: readonly { id: string; error: unknown }[]
  /** Subscriptions whose revocation is to be found on the chain. */
  revoked: readonly StoredSubscription[]
}

/** The chain as a look at the schedules sees it. */
export type ScheduleHeads = {
  /** Unix seconds of the newest block. */
  now: bigint
  /** The newest final block. */
  finalized: { number: bigint; timestamp: bigint } | undefined
}

/**
 * Runs the due schedules of a destination at a chain time. Sends nothing: the
 * submitter sends the charges. Any number of processes may do this at once,
 * because a step is written only if its rows have not changed since the plan.
 */
export async function scheduleDue(
  desk: SubscriptionsDesk,
  destination: Destination,
  heads: ScheduleHeads,
): Promise<ScheduledLook> {
  const { context } = desk
  const { now } = heads
  let charged = 0
  const failed: { id: string; error: unknown }[] = []
  const revoked: StoredSubscription[] = []
  const seen = new Set<string>()
  for (;;) {
    const due = await context.store.read(({ subscriptions }) =>
      subscriptions.find({
        due: destination,
        until: now,
        limit: pageSize + failed.length,
      }),
    )
    const fresh = due.filter(({ id }) => !seen.has(id))
    for (const { id } of fresh) {
      seen.add(id)
      try {
        const advanced = await advance(desk, id, heads)
        if (advanced.isCharged) charged++
        if (advanced.revoked) revoked.push(advanced.revoked)
      } catch (error) {
        // One that fails holds up no other. It stays due.
        failed.push({ id, error })
      }
    }
    if (fresh.length === 0) break
  }
  return { charged, failed, revoked }
}

/** What the next step of a schedule did. */
type Advanced = {
  isCharged: boolean
  /** The subscription, if its revocation is to be found on the chain. */
  revoked: StoredSubscription | undefined
}

/** Takes the next step of one schedule. */
async function advance(
  desk: SubscriptionsDesk,
  id: string,
  heads: ScheduleHeads,
): Promise<Advanced> {
  const { context } = desk
  const { now } = heads
  const { found, charge, newest } = await context.store.read(async (tables) => {
    const found = await loadSubscription(tables, context, id)
    const query = { chargesOf: id, limit: newestCount }
    return {
      found,
      charge: await findCharge(tables, found.row),
      newest: await tables.orders.find(query),
    }
  })
  const step = planStep(desk, found, { charge, newest, heads })
  const isOver = isEnded(found, step, heads)
  const planned =
    step.charge && found.row.price !== undefined && step.row.chargeId
      ? await buildCharge(context, found, {
          chargeId: step.row.chargeId,
          value: found.row.price,
          period: step.charge,
          now,
        })
      : undefined
  // It stays due: the period is charged once the signature opens again.
  if (step.charge && !planned)
    throw new OrdersSetupError('cannot open the signature of a subscription', {
      subscriptionId: id,
    })
  const write = () =>
    writeAgain(context, async (tables) => {
      const current = await loadSubscription(tables, context, id)
      const other = await findCharge(tables, current.row)
      const isStale =
        current.row.version !== found.row.version ||
        current.held.order.version !== found.held.order.version ||
        other?.version !== charge?.version
      // The rows have changed since the plan: the next run plans again.
      if (isStale) return false
      if (planned) await insertCharge(context, tables, planned)
      await writeStep(desk, tables, { found: current, charge, step })
      if (isOver) await writeEnd(desk, tables, { id, heads })
      return planned !== undefined || step.retryAt !== undefined
    })
  const isCharged = await write().catch((error: unknown) => {
    // Someone made this very charge: the next look sees its order.
    if (error instanceof DuplicateRecordError && planned)
      return adoptCharge(desk, found, step)
    throw error
  })
  return { isCharged, revoked: step.isRevoked ? found : undefined }
}

/** Keeps the schedule of a charge that is on record already. */
function adoptCharge(
  { context }: SubscriptionsDesk,
  { row }: StoredSubscription,
  step: ScheduleStep,
): Promise<boolean> {
  return writeAgain(context, async (tables) => {
    const [current] = await tables.subscriptions.find({ ids: [row.id] })
    if (current?.version === row.version)
      await tables.subscriptions.update([step.row])
    return false
  })
}

function planStep(
  { schedule }: SubscriptionsDesk,
  { row, held }: StoredSubscription,
  {
    charge,
    newest,
    heads: { now },
  }: {
    charge: OrderRecord | undefined
    newest: readonly OrderRecord[]
    heads: ScheduleHeads
  },
): ScheduleStep {
  const { state, requested } = held.order
  if (state !== 'stored') return { row: { ...row, due: undefined } }
  const { message } = decodePermission(row.permission)
  // All that is left is to end it, once the final chain is past its end.
  const due = now < message.end ? message.end : now + 1n
  // The worker has not sent the revocation yet.
  if (requested === 'cancel') return { row: { ...row, due } }
  const fate = charge && fateOf(charge)
  const step = planSchedule({
    // A charge that is not on record was not made.
    row: fate ? row : { ...row, chargeId: undefined },
    message,
    fate,
    now,
    policy: schedule,
  })
  const lasting = { ...step.row, due: step.row.due ?? due }
  return watchCharges({ ...step, row: lasting }, { newest, now })
}

/**
 * True when the subscription is open, none of its scheduled charges is
 * undecided, and a final block is at or after the end of the permission.
 */
function isEnded(
  { row, held }: StoredSubscription,
  step: ScheduleStep,
  { finalized }: ScheduleHeads,
): boolean {
  const { end } = decodePermission(row.permission).message
  return (
    held.order.state === 'stored' &&
    step.row.chargeId === undefined &&
    finalized !== undefined &&
    finalized.timestamp >= end
  )
}

/** Ends a subscription whose permission is over, and erases its signature. */
async function writeEnd(
  { context }: SubscriptionsDesk,
  tables: StoreWriter,
  { id, heads: { finalized } }: { id: string; heads: ScheduleHeads },
): Promise<void> {
  const { row, held } = await loadSubscription(tables, context, id)
  if (!finalized) return
  const evidence = {
    kind: 'expired',
    blockNumber: finalized.number,
    blockTime: finalized.timestamp,
    final: true,
  } as const
  await writeChanges(tables, settleOrder(held, evidence, context.now()))
  await tables.subscriptions.update([{ ...row, due: undefined }])
}

async function writeStep(
  { context }: SubscriptionsDesk,
  tables: StoreWriter,
  {
    found: { held },
    charge,
    step,
  }: {
    found: StoredSubscription
    charge: OrderRecord | undefined
    step: ScheduleStep
  },
): Promise<void> {
  const at = context.now()
  const { row, retryAt, report } = step
  const changes = noChanges()
  if (charge && retryAt !== undefined) {
    const asked = withEvent(
      charge,
      { type: 'captureRequested', at, data: {} },
      {
        requested: 'capture',
        sendDue: retryAt,
        needsReview: false,
        reason: undefined,
      },
    )
    changes.orders.push(asked.order)
    changes.events.push(asked.event)
  }
  if (report) {
    const { type, period, reason } = report
    const data = { period: String(period), reason }
    const reported = withEvent(held.order, { type, at, data })
    changes.orders.push(reported.order)
    changes.events.push(reported.event)
  }
  await writeChanges(tables, changes)
  await tables.subscriptions.update([row])
}

async function findCharge(
  tables: { orders: Pick<StoreWriter['orders'], 'find'> },
  { id, chargeId }: SubscriptionRecord,
): Promise<OrderRecord | undefined> {
  if (chargeId === undefined) return undefined
  const ids = [chargeOrderId(id, chargeId)]
  const [order] = await tables.orders.find({ ids })
  return order
}
