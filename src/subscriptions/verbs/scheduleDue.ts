import { inTime } from '../../core/wait.js'
import type { ClientGroup } from '../../orders/engine.js'
import {
  apply,
  noChanges,
  rulesOf,
  type WatchAsides,
  withEvent,
  writeChanges,
} from '../../orders/engine.js'
import { OrdersSetupError } from '../../orders/index.js'
import { DuplicateRecordError } from '../../store/errors.js'
import type {
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
import { loadSubscription, type SubscriptionsContext } from './context.js'
import { asideAt } from './scheduleAside.js'
import { buildCharge, insertCharge } from './writeCharge.js'

/** Most subscriptions that are loaded and processed in parallel. */
const pageSize = 50

/**
 * Most milliseconds to wait for the subscriptions of a page. A slower one, for
 * example one that waits for a key service, continues in the background.
 */
const longestWait = 1000

/**
 * What one pass over the due schedules did. Subscriptions that continue in the
 * background are counted when they are done.
 */
export type ScheduledLook = {
  /** Number of charges that were requested, retries included. */
  charged: number
  /**
   * Subscriptions that may be revoked: the caller searches the chain for it.
   */
  revoked: readonly StoredSubscription[]
}

/** State that successive passes over the destinations of a client share. */
export type ScheduleMemory = {
  asides: WatchAsides
  /** Subscriptions that are being processed now, by id. */
  going: Map<string, Promise<void>>
}

/** The newest block and the newest final block that one pass uses. */
type ScheduleHeads = {
  /** Unix seconds of the newest block. */
  now: bigint
  /** The newest final block. */
  finalized: { number: bigint; timestamp: bigint } | undefined
}

/**
 * Runs the due schedules of a client's destinations as of the newest block's
 * time. Sends no transaction: workers send the charges. Any number of processes
 * may do this at once, because a step is written only if its rows have not
 * changed since it was planned.
 *
 * @throws any error of `checkHeads`, before anything is written. It is called
 * only if something is due, so that a pass without work sends no request.
 */
export async function scheduleDue(
  subscriptions: SubscriptionsContext,
  { destinations }: Pick<ClientGroup, 'destinations'>,
  {
    asides,
    going,
    checkHeads,
    ...heads
  }: ScheduleHeads & ScheduleMemory & { checkHeads: () => Promise<void> },
): Promise<ScheduledLook> {
  const { context } = subscriptions
  const { now } = heads
  const look: { charged: number; revoked: StoredSubscription[] } = {
    charged: 0,
    revoked: [],
  }
  const seen = new Set<string>()
  const begin = (row: SubscriptionRecord): Promise<void> => {
    const { id } = row
    const aside = asideAt(asides, row)
    const ended = advance(subscriptions, id, heads)
      .then(({ isCharged, revoked }) => {
        if (isCharged) look.charged++
        if (revoked) look.revoked.push(revoked)
        aside.clear()
      })
      // A failed subscription does not stop the others. It stays due and is
      // retried.
      .catch((error: unknown) => {
        aside.put(error)
      })
      .finally(() => going.delete(id))
    going.set(id, ended)
    return ended
  }
  for (;;) {
    const due = await context.store.read(({ subscriptions }) =>
      subscriptions.find({
        due: destinations(),
        until: now,
        // Subscriptions that wait for a retry or are in progress are still due,
        // so the query returns them too. The larger limit leaves room for
        // others.
        limit: pageSize + asides.size() + going.size,
      }),
    )
    const fresh = due
      .filter(({ id }) => !seen.has(id) && !going.has(id))
      .filter((row) => !asideAt(asides, row).isWaiting())
      .slice(0, pageSize)
    if (fresh.length === 0) return look
    if (seen.size === 0) await checkHeads()
    for (const { id } of fresh) seen.add(id)
    const page = Promise.all(fresh.map(begin))
    await inTime<unknown>(page, longestWait, () => undefined)
  }
}

type Advanced = {
  isCharged: boolean
  /**
   * Present if the caller must search the chain for a revocation of this
   * subscription.
   */
  revoked: StoredSubscription | undefined
}

async function advance(
  subscriptions: SubscriptionsContext,
  id: string,
  heads: ScheduleHeads,
): Promise<Advanced> {
  const { context } = subscriptions
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
  const step = planStep(subscriptions, found, { charge, newest, heads })
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
  // The signature cannot be decrypted. The subscription stays due, and its
  // period is charged once decrypting works again.
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
      // The rows have changed since the plan: the next pass plans again.
      if (isStale) return false
      if (planned) await insertCharge(context, tables, planned)
      await writeStep(subscriptions, tables, { found: current, charge, step })
      if (isOver) await writeEnd(subscriptions, tables, { id, heads })
      return planned !== undefined || step.retryAt !== undefined
    })
  const isCharged = await write().catch((error: unknown) => {
    // Another process made this charge: the next pass finds its order.
    if (error instanceof DuplicateRecordError && planned)
      return adoptCharge(subscriptions, found, step)
    throw error
  })
  return { isCharged, revoked: step.isRevoked ? found : undefined }
}

/**
 * Writes the step of the schedule when another process has already inserted its
 * charge.
 */
function adoptCharge(
  { context }: SubscriptionsContext,
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
  { schedule }: SubscriptionsContext,
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
  // If nothing else is due, the schedule next looks at the subscription when
  // its permission ends. From then on it looks each second until a final block
  // is past that end.
  const due = now < message.end ? message.end : now + 1n
  // A revocation is requested, and no worker has settled it yet: only wait.
  if (requested === 'cancel') return { row: { ...row, due } }
  const fate = charge && fateOf(charge)
  const step = planSchedule({
    // If the charge has no order, it was never made: forget its id.
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

/**
 * Ends a subscription whose permission has expired, and erases the stored
 * signature.
 */
async function writeEnd(
  { context }: SubscriptionsContext,
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
  const rules = rulesOf(context)
  await writeChanges(tables, apply(held, evidence, rules), rules.at)
  await tables.subscriptions.update([{ ...row, due: undefined }])
}

async function writeStep(
  { context }: SubscriptionsContext,
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
  const rules = rulesOf(context)
  const { row, retryAt, report } = step
  const changes = noChanges()
  if (charge && retryAt !== undefined) {
    const input = { kind: 'requestCapture', sendDue: retryAt } as const
    const asked = apply({ order: charge }, input, rules)
    changes.orders.push(...asked.orders)
    changes.events.push(...asked.events)
  }
  if (report) {
    const { type, period, reason } = report
    const data = { period: String(period), reason }
    const reported = withEvent(held.order, { type, at: rules.at, data })
    changes.orders.push(reported.order)
    changes.events.push(reported.event)
  }
  await writeChanges(tables, changes, rules.at)
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
