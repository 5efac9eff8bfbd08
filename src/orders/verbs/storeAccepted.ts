import type { AnySignedPayment, VerifiedAt } from '../../core/types.js'
import { DuplicateRecordError } from '../../store/errors.js'
import type {
  AttemptRecord,
  OrderRecord,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { applyTaken, rulesOf } from '../model/apply.js'
import { type Changes, noChanges, writeChanges } from '../model/changes.js'
import type { Acceptance } from '../model/commands.js'
import { kindOf } from '../model/kindOf.js'
import { loadOrder } from '../model/loadOrders.js'
import { sealContextOf } from '../model/paymentOf.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { AcceptVerdict, Order } from '../model/types.js'
import { checkAccept, hashSigned } from './checkAccept.js'
import { type KnownPayer, loadPayers } from './loadPayers.js'
import {
  type Overdrawn,
  type PayerFunds,
  writeWithinFunds,
} from './writeWithinFunds.js'

type Accepted = {
  found: StoredOrder
  payment: AnySignedPayment
  judged: {
    at: VerifiedAt
    balance: bigint
    submitter: OrderRecord['submitter']
  }
}

/**
 * Stores a payment whose simulated capture succeeded, if the payer's balance
 * covers all its open payments and the order has not changed meanwhile.
 */
export async function storeAccepted(
  context: OrdersContext,
  accepted: Accepted,
): Promise<AcceptVerdict> {
  const { found, payment } = accepted
  const signed = signAttempt(context, found.attempt, payment)
  // Encrypt before the database transaction begins, because a key service may
  // be slow.
  const signature = await context.sealer.seal(
    payment.signature,
    sealContextOf('payment', found.order, signed),
  )
  let isLoaded = true
  const write = (funds: PayerFunds) =>
    writeAgain(context, async (tables) => {
      const { chainId, token } = found.order
      await tables.lock(`exposure:${chainId}:${token}:${payment.message.from}`)
      const writeNow = isLoaded ? writeLoaded : writeChanged
      isLoaded = false
      return writeNow(context, tables, { ...accepted, signature, funds })
    })
  try {
    return await writeWithinFunds(
      context,
      { ...accepted, order: found.order },
      write,
    )
  } catch (error) {
    if (!(error instanceof DuplicateRecordError)) throw error
    return { ok: false, reason: 'otherPayment', details: {} }
  }
}

type Sealed = Accepted & { signature: string; funds: PayerFunds }

/**
 * Writes the order without loading it again. The store refuses the write if the
 * order changed meanwhile.
 */
async function writeLoaded(
  context: OrdersContext,
  tables: StoreWriter,
  accepted: Sealed,
): Promise<AcceptVerdict | Overdrawn> {
  const { found, payment } = accepted
  const verdict = await writeAccepted(context, tables, accepted)
  if (verdict.ok) return verdict
  // Nothing was written, so nothing has checked whether the order changed
  // meanwhile: load it and check.
  const current = await loadOrder(tables, context, found.order.id)
  return checkAccept(context, current, payment).verdict ?? verdict
}

/** Loads the order again, because it changed, and repeats the checks. */
async function writeChanged(
  context: OrdersContext,
  tables: StoreWriter,
  accepted: Sealed,
): Promise<AcceptVerdict | Overdrawn> {
  const { order } = accepted.found
  const found = await loadOrder(tables, context, order.id)
  return (
    checkAccept(context, found, accepted.payment).verdict ??
    writeAccepted(context, tables, { ...accepted, found })
  )
}

async function writeAccepted(
  context: OrdersContext,
  tables: StoreWriter,
  accepted: Sealed,
): Promise<AcceptVerdict | Overdrawn> {
  const { found, payment, funds } = accepted
  const asked = { context, found, payer: payment.message.from, at: funds.at }
  const payers = await loadPayers(tables, [asked])
  const planned = await planAccepted(context, tables, {
    ...accepted,
    payer: payers(asked),
  })
  if (!planned.ok) return planned
  const { order, attempt, events } = planned
  const changes = {
    ...noChanges(),
    orders: [order],
    attempts: [attempt],
    events,
  }
  await writeChanges(tables, changes, context.now())
  return { ok: true, order: planned.shown, at: planned.at }
}

/** The rows to write when a payment is accepted, or why it is refused. */
type PlannedAccept =
  | {
      ok: true
      at: VerifiedAt
      order: OrderRecord
      attempt: AttemptRecord
      events: Changes['events']
      shown: Order
    }
  | Overdrawn
  | Extract<AcceptVerdict, { ok: false }>

/** Checks the payer's other open payments, and plans the rows to write. */
export async function planAccepted(
  context: OrdersContext,
  tables: StoreWriter,
  accepted: Sealed &
    Pick<Acceptance, 'capture'> & {
      payer: KnownPayer
    },
): Promise<PlannedAccept> {
  const { found, payment, judged, signature, funds } = accepted
  const { from: payer } = payment.message
  const { at, balance } = funds
  const { others, spent, isHeld } = accepted.payer
  const openOthers = others.filter(
    ({ spendableUntil }) => (spendableUntil ?? 0n) > at.time,
  )
  const open = sumUnconsumed(openOthers, funds) + spent
  const { value } = found.attempt
  if (await isNonceTaken(context, tables, found, others, judged.at.time))
    return { ok: false, reason: 'permitOpen', details: { at: judged.at } }
  if (open + value > balance)
    return {
      ok: false,
      reason: 'exposureTooHigh',
      details: { at, balance, open, value },
      openNonces: openOthers.map(({ nonce }) => nonce),
    }
  const attempt = { ...signAttempt(context, found.attempt, payment), signature }
  const { submitter } = judged
  const { capture } = accepted
  const { orders, events } = applyTaken(
    found,
    { kind: 'accept', attempt, payer, submitter, isHeld, capture },
    rulesOf(context),
  )
  const [order = found.order] = orders
  const attempts = found.attempts.map((one) =>
    one.number === attempt.number ? attempt : one,
  )
  return {
    ok: true,
    at: judged.at,
    order,
    attempt,
    events,
    shown: showOrder({ ...found, order, attempt, attempts }),
  }
}

/**
 * Returns the attempt with the window and payer of the signed payment, but
 * without the signature.
 */
export function signAttempt(
  { keccak256 }: Pick<OrdersContext, 'keccak256'>,
  attempt: AttemptRecord,
  payment: AnySignedPayment,
): AttemptRecord {
  const { from, validAfter, validBefore } = payment.message
  const { spendableUntil = 0n } = attempt
  return {
    ...attempt,
    payer: from,
    signedAfter: validAfter,
    signedBefore: validBefore,
    signatureHash: hashSigned(payment, keccak256),
    spendableUntil: spendableUntil > validBefore ? spendableUntil : validBefore,
    spendable: true,
  }
}

function sumUnconsumed(
  attempts: readonly AttemptRecord[],
  { consumed }: PayerFunds,
): bigint {
  return attempts
    .filter(({ nonce }) => !consumed.has(nonce))
    .reduce((sum, { value }) => sum + value, 0n)
}

/**
 * True when another open payment of this payer uses the same sequential nonce,
 * as permits do: capturing one of the two makes the other invalid.
 */
async function isNonceTaken(
  context: OrdersContext,
  tables: StoreWriter,
  { order }: StoredOrder,
  others: readonly AttemptRecord[],
  time: bigint,
): Promise<boolean> {
  if (!kindOf(context, order).permit) return false
  const open = others.filter(
    ({ spendableUntil }) => (spendableUntil ?? 0n) > time,
  )
  if (open.length === 0) return false
  const orders = await tables.orders.find({
    ids: open.map(({ orderId }) => orderId),
  })
  return orders.some(({ kind }) => kind === order.kind)
}
