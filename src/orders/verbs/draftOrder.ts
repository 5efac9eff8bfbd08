import { canonicalJson } from '../../core/canonicalJson.js'
import { checkMembers } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { drawTestOrderId, parseNewId } from '../../core/testOrders.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { OrderRecord, StoreWriter } from '../../store/types.js'
import { writeNew } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { AnyDraftedPayment, DraftedOrder } from '../model/types.js'
import type {
  DraftOrderParameters,
  ExactDraftParameters,
} from './draftFacts.js'
import { drawBuyerToken, hashBuyerToken } from './getForBuyer.js'
import { insertDraft } from './insertOrder.js'
import { type Draft, planDraft } from './planDraft.js'

/** Implements `draft` of `DestinationOrders`. */
export async function draftOrder(
  context: OrdersContext,
  parameters: DraftOrderParameters,
): Promise<DraftedOrder<AnyDraftedPayment>> {
  checkMembers(parameters, [
    'orderId',
    'chainId',
    'token',
    'recipient',
    'amount',
    'atMost',
    'payer',
    'window',
    'primaryType',
    'metadata',
  ])
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
  const stored = await writeNew(context, (tables) =>
    writeDraft(context, tables, draft),
  )
  return {
    order: showOrder(stored),
    payment: draftedPaymentOf(context, stored.order, stored.attempt),
    buyerToken,
  }
}

async function writeDraft(
  context: OrdersContext,
  tables: StoreWriter,
  draft: Draft,
): Promise<StoredOrder> {
  const [known] = await tables.orders.find({ ids: [draft.order.id] })
  return known
    ? redraft(context, tables, known, draft)
    : insertDraft(context, tables, draft)
}

async function redraft(
  context: OrdersContext,
  tables: StoreWriter,
  known: OrderRecord,
  draft: Draft,
): Promise<StoredOrder> {
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
  return { order, attempt, attempts: [attempt], proofs: [] }
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
