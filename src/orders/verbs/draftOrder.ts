import { canonicalJson } from '../../core/canonicalJson.js'
import { checkMembers } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { drawTestOrderId, parseNewId } from '../../core/testOrders.js'
import { DuplicateRecordError } from '../../store/errors.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  AttemptRecord,
  OrderRecord,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { withEvent } from '../model/changes.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import { showOrder } from '../model/showOrder.js'
import type {
  AnyDraftedPayment,
  DraftedOrder,
  OrdersContext,
} from '../model/types.js'
import {
  checkRecipient,
  type DraftOrderParameters,
  draftMembers,
  type ExactDraftParameters,
} from './draftFacts.js'
import { drawBuyerToken, hashBuyerToken } from './getForBuyer.js'
import { type Draft, planDraft } from './planDraft.js'

/** Implements `draft` of `DestinationOrders`. */
export async function draftOrder(
  context: OrdersContext,
  parameters: DraftOrderParameters,
): Promise<DraftedOrder<AnyDraftedPayment>> {
  checkMembers(parameters, draftMembers)
  const id = parseNewId(parameters.orderId ?? drawNonce().slice(2, 34))
  return draftAs(context, id, parameters)
}

/**
 * Drafts a test order: it is paid and captured like any other, but never
 * fulfilled, and no webhook reports its events. No public method and no HTTP
 * route calls this, so nobody can sell goods with such an order.
 */
export function draftTestOrder(
  context: OrdersContext,
  parameters: Omit<ExactDraftParameters, 'orderId'>,
): Promise<DraftedOrder<AnyDraftedPayment>> {
  return draftAs(context, drawTestOrderId(), parameters)
}

async function draftAs(
  context: OrdersContext,
  id: string,
  parameters: DraftOrderParameters,
): Promise<DraftedOrder<AnyDraftedPayment>> {
  const buyerToken = drawBuyerToken()
  const buyerTokenHash = hashBuyerToken(buyerToken, context.keccak256)
  const draft = await planDraft(context, { id, buyerTokenHash, parameters })
  const write = () =>
    writeAgain(context, (tables) => writeDraft(context, tables, draft))
  const { order, attempt } = await write().catch((error: unknown) => {
    // Another call drafted the same id at the same time: load that order.
    if (error instanceof DuplicateRecordError) return write()
    throw error
  })
  return {
    order: showOrder({ order, attempt, attempts: [attempt], proofs: [] }),
    payment: draftedPaymentOf(context, order, attempt),
    buyerToken,
  }
}

async function writeDraft(
  context: OrdersContext,
  tables: StoreWriter,
  draft: Draft,
): Promise<{ order: OrderRecord; attempt: AttemptRecord }> {
  const { id } = draft.order
  const [known] = await tables.orders.find({ ids: [id] })
  if (known) return redraft(context, tables, known, draft)
  await checkRecipient(context, tables, draft.order)
  const { value, nonce, validBefore } = draft.attempt
  // The store sets position and version when it inserts the order. Nothing
  // shows these placeholders.
  const blank = { ...draft.order, version: 1, position: 0n }
  const changed = withEvent(blank, {
    type: 'drafted',
    at: context.now(),
    data: {
      value: String(value),
      ...(draft.order.total === 'atMost' ? { atMost: String(value) } : {}),
      nonce,
      validBefore: String(validBefore),
    },
  })
  const { version, position, ...order } = changed.order
  await tables.orders.insert([order])
  await tables.attempts.insert([draft.attempt])
  await tables.events.append([changed.event])
  return { order: changed.order, attempt: { ...draft.attempt, version } }
}

async function redraft(
  context: OrdersContext,
  tables: StoreWriter,
  known: OrderRecord,
  draft: Draft,
): Promise<{ order: OrderRecord; attempt: AttemptRecord }> {
  const [attempt] = await tables.attempts.find({ orderIds: [known.id] })
  const isSame =
    attempt !== undefined &&
    known.state === 'drafted' &&
    known.attempt === 1 &&
    attempt.signatureHash === undefined &&
    isInDestinations(known, context.destinations) &&
    contentsOf(known, attempt) === contentsOf(draft.order, draft.attempt)
  if (!isSame)
    throw new InvalidFieldError(
      'orderId',
      shown(known.id),
      'an id that no other order has',
    )
  const order = { ...known, buyerTokenHash: draft.order.buyerTokenHash }
  await tables.orders.update([order])
  return { order, attempt }
}

/**
 * The contents of an order that must be equal when `draft` gets the same id
 * again.
 */
function contentsOf(
  order: Draft['order'],
  { validAfter, validBefore }: Draft['attempt'],
): string {
  const { chainId, token, recipient, primaryType, payer, metadata } = order
  const { kind } = order
  return canonicalJson({
    destination: [chainId, token, recipient, kind, primaryType, payer ?? null],
    amounts: [String(order.value), String(validBefore - validAfter)],
    metadata,
  })
}
