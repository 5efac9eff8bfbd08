import { parseAmount } from '../../core/amount.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseOrderId } from '../../core/parseOrderId.js'
import type {
  OrderRecord,
  ProofRecord,
  StoreWriter,
} from '../../store/types.js'
import { writeNew } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { applyTaken, rulesOf } from '../model/apply.js'
import { noChanges, withEvent, writeChanges } from '../model/changes.js'
import { kindOf } from '../model/kindOf.js'
import { loadOrder } from '../model/loadOrders.js'
import { nextAttempt, planRefund } from '../model/planRefund.js'
import { refundFacts } from '../model/refundEvents.js'
import {
  isPayment,
  isReleased,
  refundIdOf,
  settlingPayment,
  sumRefunds,
} from '../model/refundRow.js'
import type { RefundReason, RefundRefusal } from '../model/refundTypes.js'
import type { RefundVerdict } from '../model/refundVerdicts.js'
import { drawSender } from '../model/sendersOf.js'
import { showOrder } from '../model/showOrder.js'
import { refundReasons, refundStateOf } from '../model/showRefund.js'
import type { RefundRow, StoredOrder } from '../model/storedOrder.js'
import { loadIdentity } from '../model/storeState.js'

/** Parameters of `refund`: which order to refund, how much, and why. */
export type RefundOrderParameters = {
  orderId: string
  /**
   * Your id for this refund, unique in the order; up to 128 characters. It
   * refunds the payment that settled the order. To refund the payment of a
   * `refundDue` or `overpaid` event, pass the `refundId` of the event. To
   * refund that payment in parts, use ids that begin with that `refundId` and a
   * `/`.
   */
  refundId: string
  /**
   * A decimal such as `'12.50'`, in whole tokens.
   * @default all that can still be refunded of the payment
   */
  amount?: string | undefined
  reason?: RefundReason | undefined
}

const members: MembersOf<RefundOrderParameters> = {
  orderId: true,
  refundId: true,
  amount: true,
  reason: true,
}

/**
 * Decides whether a new request may reserve its amount, in the same database
 * transaction. Returns a refusal if it may not.
 */
export type AdmitRefund<refusal> = (
  tables: StoreWriter,
  order: OrderRecord,
  value: bigint,
) => Promise<refusal | undefined>

/** A verdict of `refund` that can also contain a refusal by `admit`. */
export type AdmittedRefundVerdict<refusal> =
  | Extract<RefundVerdict, { ok: true }>
  | {
      ok: false
      reason: RefundRefusal | refusal
      order: RefundVerdict['order']
    }

type Request<refusal> = { wanted: Wanted; admit: AdmitRefund<refusal> }

type Wanted = {
  orderId: string
  refundId: string
  amount: string | undefined
  reason: RefundReason | undefined
}

/** Implements `refund` of `DestinationOrders`. */
export function refundOrder(
  context: OrdersContext,
  parameters: RefundOrderParameters,
): Promise<RefundVerdict> {
  return requestRefund<never>(context, parameters, async () => undefined)
}

/**
 * Requests a refund that `admit` allows. Calls `admit` before a new refund
 * reserves its amount. Does not call it when the call is repeated for a refund
 * whose amount is reserved already.
 */
export async function requestRefund<refusal extends string>(
  context: OrdersContext,
  parameters: RefundOrderParameters,
  admit: AdmitRefund<refusal>,
): Promise<AdmittedRefundVerdict<refusal>> {
  checkMembers(parameters, members)
  const { amount, reason } = parameters
  if (reason !== undefined && !refundReasons.includes(reason))
    throw new InvalidFieldError('reason', shown(reason), refundReasons)
  const wanted = {
    orderId: parseOrderId(parameters.orderId),
    refundId: parseOrderId(parameters.refundId, 'refundId'),
    amount,
    reason,
  }
  return writeNew(context, (tables) =>
    writeRefund(context, tables, { wanted, admit }),
  )
}

async function writeRefund<refusal extends string>(
  context: OrdersContext,
  tables: StoreWriter,
  { wanted, admit }: Request<refusal>,
): Promise<AdmittedRefundVerdict<refusal>> {
  const { orderId, refundId, amount } = wanted
  const found = await loadOrder(tables, context, orderId)
  const value =
    amount === undefined ? undefined : parseAmount(amount, found.order.decimals)
  const known = found.refunds?.find(({ row }) => refundIdOf(row) === refundId)
  const refusal = known
    ? await repeatRefund(context, tables, { found, known, value, admit })
    : await addRefund(context, tables, { found, wanted, value, admit })
  // A database transaction reads its own writes, so this finds the new refund.
  const after = await loadOrder(tables, context, orderId)
  const order = showOrder(after)
  if (refusal !== undefined) return { ok: false, reason: refusal, order }
  const refund = order.refunds.find((one) => one.refundId === refundId)
  return refund
    ? { ok: true, refund, order }
    : { ok: false, reason: 'notCaptured', order }
}

/** Inserts a new refund, or returns why it is refused. */
async function addRefund<refusal extends string>(
  context: OrdersContext,
  tables: StoreWriter,
  {
    found,
    wanted: { refundId, reason },
    value,
    admit,
  }: Request<refusal> & { found: StoredOrder; value: bigint | undefined },
): Promise<RefundRefusal | refusal | undefined> {
  const payment = choosePayment(found, refundId)
  const paid = found.attempts.find(({ number }) => number === payment?.attempt)
  if (!payment || !paid) return 'notCaptured'
  if (kindOf(context, found.order).permit) return 'unsupportedToken'
  const rows = (found.refunds ?? []).map(({ row }) => row)
  const { refundable } = sumRefunds(found, rows, paid.number)
  const wanted = value ?? refundable
  if (wanted === 0n || wanted > refundable) return 'exceedsCaptured'
  const refusal = await admit(tables, found.order, wanted)
  if (refusal !== undefined) return refusal
  const planned = planRefund(found.order, {
    payment,
    refundId,
    attempt: paid.number,
    value: wanted,
    submitter:
      drawSender(context, found.order)?.submitter.account ??
      found.order.recipient,
    metadata: {
      ...(reason !== undefined && { reason }),
      requestedIn: await loadIdentity(tables),
    },
  })
  await reportRequest(context, tables, found, { ...planned.order, reason })
  await tables.orders.insert([planned.order])
  await tables.attempts.insert([planned.attempt])
  return undefined
}

/**
 * Handles a refund whose id is stored already. Requests it again if it failed
 * and can no longer be paid. Otherwise returns it, or the reason why this
 * request is refused.
 */
async function repeatRefund<refusal extends string>(
  context: OrdersContext,
  tables: StoreWriter,
  {
    found,
    known: { row, stored },
    value,
    admit,
  }: {
    found: StoredOrder
    known: { row: RefundRow; stored: StoredOrder }
    value: bigint | undefined
    admit: AdmitRefund<refusal>
  },
): Promise<RefundRefusal | refusal | undefined> {
  if (value !== undefined && value !== row.value) return 'refundConflict'
  if (refundStateOf(row) !== 'failed' || !isReleased(row)) return undefined
  const rows = (found.refunds ?? []).map((one) => one.row)
  const { refundable } = sumRefunds(found, rows, row.parentAttempt)
  if (found.order.state !== 'captured') return 'notCaptured'
  if (row.value > refundable) return 'exceedsCaptured'
  const refusal = await admit(tables, found.order, row.value)
  if (refusal !== undefined) return refusal
  const attempt = nextAttempt(stored, row)
  await reportRequest(context, tables, found, row, 0)
  const requestedIn = await loadIdentity(tables)
  const metadata = { ...row.metadata, requestedIn }
  const rules = rulesOf(context)
  const changes = applyTaken(
    { order: { ...row, metadata } },
    { kind: 'renewRefund', number: attempt.number },
    rules,
  )
  await writeChanges(tables, changes, rules.at)
  await tables.attempts.insert([attempt])
  return undefined
}

/**
 * Writes the event together with a new version of the order. If two calls try
 * to reserve the same remaining amount, the second one finds another version
 * and fails.
 */
async function reportRequest(
  { now }: OrdersContext,
  tables: StoreWriter,
  { order }: StoredOrder,
  refund: Parameters<typeof refundFacts>[0] & {
    reason?: unknown
  },
  added: 0 | 1 = 1,
): Promise<void> {
  const reason = refundReasons.find((one) => one === refund.reason)
  const requested = withEvent(
    order,
    {
      type: 'refundRequested',
      at: now(),
      data: {
        ...refundFacts(refund),
        ...(reason === undefined ? {} : { reason }),
      },
    },
    { refunds: order.refunds + added },
  )
  const { order: row, event } = requested
  const changes = { ...noChanges(), orders: [row], events: [event] }
  await writeChanges(tables, changes, event.at)
}

/**
 * Chooses the payment to refund: the one that the refund's id names, such as an
 * id from `refundDue` or `overpaid`, otherwise the one that settled the order.
 */
function choosePayment(
  stored: StoredOrder,
  refundId: string,
): ProofRecord | undefined {
  const { order, proofs } = stored
  if (order.state !== 'captured') return undefined
  const named = proofs.filter(isPayment).find(({ attempt }) => {
    const name = `${order.id}/${attempt}`
    return refundId === name || refundId.startsWith(`${name}/`)
  })
  return named ?? settlingPayment(stored)
}
