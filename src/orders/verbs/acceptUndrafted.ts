import type { Address } from 'viem'
import type { Token } from '../../chain/state/getToken.js'
import { tokenSignature } from '../../core/signature.js'
import { parseNewId } from '../../core/testOrders.js'
import type { SignedPayment, VerifiedAt } from '../../core/types.js'
import { eip3009 } from '../../payments/kind.js'
import { checkMessage } from '../../payments/verify/checkMessage.js'
import { DuplicateRecordError } from '../../store/errors.js'
import { parseMetadata } from '../../store/parseMetadata.js'
import type {
  AttemptRecord,
  OrderRecord,
  StoreWriter,
} from '../../store/types.js'
import {
  atRiskLock,
  type EarlyLimits,
  reserveEarly,
} from '../account/reserveEarly.js'
import type { OrdersContext } from '../context/types.js'
import { withEvent } from '../model/changes.js'
import { sealContextOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { AcceptVerdict, Order } from '../model/types.js'
import { hashSigned } from './checkAccept.js'
import { takesOrders } from './draftFacts.js'
import { drawBuyerToken, hashBuyerToken } from './getForBuyer.js'
import { draftedReport } from './insertOrder.js'
import { judgeAccept } from './judgeAccept.js'
import type { KnownPayer } from './loadPayers.js'
import { fillDraft } from './planDraft.js'
import { rehearseGathered } from './rehearseGathered.js'
import { planAccepted, signAttempt } from './storeAccepted.js'
import { type NewRows, writeGathered } from './writeGathered.js'
import {
  type Overdrawn,
  type PayerFunds,
  writeWithinFunds,
} from './writeWithinFunds.js'

export type AcceptUndraftedParameters = {
  orderId: string
  /**
   * A `TransferWithAuthorization` payment with a nonce that the payer chose.
   */
  payment: SignedPayment
  /**
   * The token that the payment must use, with the EIP-712 domain and decimals
   * read from the chain.
   */
  token: Pick<Token, 'domain' | 'decimals'>
  /** The account that the payment must pay. */
  recipient: Address
  /** The value that the payment must have, in token units. */
  value: bigint
  metadata?: Readonly<Record<string, unknown>> | undefined
  /**
   * Most payments of one payer that may be open (accepted and still
   * capturable), including this one.
   */
  mostOpen?: number | undefined
  /**
   * `now`: stores the request to capture together with the order. `later`:
   * sends nothing until someone calls `capture`, whatever `policy.capture` is.
   */
  capture: 'now' | 'later'
  /**
   * Only with `now`: limits for answering as soon as the pending block shows
   * the capture; absent if the caller waits for a block.
   */
  early?: EarlyLimits | undefined
  /**
   * Runs while the node verifies the payment. The order is written after both
   * have ended.
   */
  meanwhile?: ((order: OrderRecord) => Promise<void>) | undefined
  /**
   * Writes more in the database transaction that creates the order, or adds
   * notes to `rows`, to be inserted with it.
   */
  also?:
    | ((
        tables: StoreWriter,
        order: Pick<OrderRecord, 'needsReview'>,
        rows: Pick<NewRows, 'notes'>,
      ) => Promise<void>)
    | undefined
}

/**
 * Whether the order was created. The reason `tooManyOpen` says that the payer
 * has more than `mostOpen` open payments, and `removedRecipient` that the shop
 * takes no new orders for the recipient.
 */
type AcceptUndraftedVerdict =
  | {
      ok: true
      order: Order
      at: VerifiedAt | undefined
      /** The order as it was written to the store. */
      stored: StoredOrder
    }
  | Extract<AcceptVerdict, { ok: false }>
  | {
      ok: false
      reason: 'tooManyOpen' | 'removedRecipient'
      details: Readonly<Record<string, unknown>>
    }

/**
 * Creates an order from a payment that was not drafted: the payer chose the
 * nonce, as in x402. Drafts and accepts in one database transaction, so it
 * writes the order together with its payment, or nothing.
 *
 * Only the first call for an order id and a payment nonce creates an order.
 * Later calls are refused with `otherPayment`, so `also` runs for one caller
 * only. The expected token, recipient and value come from the caller, never
 * from the payment.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} {@link ClockSkewError} as
 * `accept` does.
 */
export async function acceptUndrafted(
  context: OrdersContext,
  parameters: AcceptUndraftedParameters,
): Promise<AcceptUndraftedVerdict> {
  const { payment } = parameters
  const found = planUndrafted(context, parameters)
  const refusal = checkUndrafted(found.order, payment)
  if (refusal) return { ok: false, ...refusal }

  const meanwhile = parameters.meanwhile?.(found.order)
  // The result is awaited below. Without this handler, a failure before that
  // would be an unhandled rejection.
  meanwhile?.catch(() => undefined)
  const judged = await judgeAccept(
    context,
    found.order,
    payment,
    rehearseGathered,
  )
  if (!judged.ok) return judged
  const { maxWindow } = context.policy
  const window = payment.message.validBefore - judged.at.time
  if (window > maxWindow) {
    judged.release()
    const details = { at: judged.at, window, maxWindow }
    return { ok: false, reason: 'windowTooLong', details }
  }
  const store = async () => {
    await meanwhile
    const order = { ...found.order, createdAt: judged.at.time }
    return storeUndrafted(context, parameters, {
      found: { ...found, order },
      payment,
      judged,
    })
  }
  const verdict = await store().catch((error: unknown) => {
    judged.release()
    throw error
  })
  if (verdict.ok)
    context.rehearsals.remember(found.order.id, {
      payment,
      head: judged.head,
      gas: judged.gas,
      signatureHash: hashSigned(payment, context.keccak256),
      refusesContracts: context.policy.contractPayers === 'refuse',
    })
  else judged.release()
  return verdict
}

/**
 * Plans the order as if it had been drafted with the payment's nonce and
 * window.
 */
function planUndrafted(
  context: OrdersContext,
  parameters: AcceptUndraftedParameters,
): StoredOrder {
  const { payment, token, recipient, value } = parameters
  const { from, nonce, validAfter, validBefore } = payment.message
  const draft = fillDraft(context, {
    id: parseNewId(parameters.orderId),
    // No buyer gets this random token: only the payment shows who paid.
    buyerTokenHash: hashBuyerToken(drawBuyerToken(), context.keccak256),
    token,
    time: 0n,
    window: 0n,
    value,
    recipient,
    payer: from,
    primaryType: 'TransferWithAuthorization',
    kind: eip3009,
    permitNonce: undefined,
    metadata: parseMetadata(parameters.metadata),
  })
  const attempt = {
    ...draft.attempt,
    version: 1,
    nonce,
    validAfter,
    validBefore,
  }
  return {
    order: {
      ...draft.order,
      deadline: validBefore,
      version: 1,
      position: 0n,
    },
    attempt,
    attempts: [attempt],
    proofs: [],
  }
}

function checkUndrafted(
  order: OrderRecord,
  payment: SignedPayment,
): Omit<Extract<AcceptVerdict, { ok: false }>, 'ok'> | undefined {
  const { message } = payment
  if (!tokenSignature(payment.signature))
    return { reason: 'malformedSignature', details: {} }
  const refusal = checkMessage(payment, payment.signature, {
    chainId: order.chainId,
    token: order.token,
    primaryType: order.primaryType,
    to: order.recipient,
    // An empty amount skips the check of the decimal amount; the value in token
    // units is compared below.
    amount: '',
  })
  if (refusal) return refusal
  return message.value === order.value
    ? undefined
    : {
        reason: 'wrongAmount',
        details: { value: message.value, expected: order.value },
      }
}

type Judged = Parameters<typeof planAccepted>[2]

async function storeUndrafted(
  context: OrdersContext,
  { mostOpen, also, capture, early }: AcceptUndraftedParameters,
  accepted: Omit<Judged, 'signature' | 'funds' | 'payer'>,
): Promise<AcceptUndraftedVerdict> {
  const { found, payment, judged } = accepted
  const { chainId, token } = found.order
  const { from } = payment.message
  const signature = await context.sealer.seal(
    payment.signature,
    sealContextOf(
      'payment',
      found.order,
      signAttempt(context, found.attempt, payment),
    ),
  )
  const exposure = `exposure:${chainId}:${token}:${from}`
  const locks = early ? [atRiskLock, exposure] : [exposure]
  const write = async (
    tables: StoreWriter,
    rows: NewRows,
    payer: KnownPayer,
    funds: PayerFunds,
  ): Promise<AcceptUndraftedVerdict | Overdrawn> => {
    if (!(await takesOrders(context, tables, found.order)))
      return { ok: false, reason: 'removedRecipient', details: {} }
    const open = countOpen(payer.others, judged.at.time)
    if (mostOpen !== undefined && open >= mostOpen)
      return { ok: false, reason: 'tooManyOpen', details: { open, mostOpen } }
    const planned = await planAccepted(context, tables, {
      ...accepted,
      found: { ...found, order: drafted.order },
      signature,
      funds,
      payer,
      capture,
    })
    if (!planned.ok) return planned
    const wanted = early ? [{ order: planned.order, limits: early }] : []
    const reserved = await reserveEarly(context, tables, wanted)
    const kept = reserved.get(planned.order.id) ?? planned.order
    const { version, position, ...order } = kept
    const { version: first, ...attempt } = planned.attempt
    rows.orders.push(order)
    rows.attempts.push(attempt)
    rows.events.push(drafted.event, ...planned.events)
    if (also) rows.also.push(() => also(tables, order, rows))
    const row = { ...attempt, version: first }
    const stored: StoredOrder = {
      order: { ...order, version: 1, position },
      attempt: row,
      attempts: [row],
      proofs: [],
    }
    return { ok: true, order: planned.shown, at: planned.at, stored }
  }
  const drafted = withEvent(found.order, draftedReport(context, found))
  try {
    return await writeWithinFunds(
      context,
      { ...accepted, order: found.order },
      (funds) => {
        const asked = { context, found, payer: from, at: funds.at }
        return writeGathered(context, {
          payer: asked,
          write: (tables, rows, payers) =>
            write(tables, rows, payers(asked), funds),
          locks,
        })
      },
    )
  } catch (error) {
    if (!(error instanceof DuplicateRecordError)) throw error
    return { ok: false, reason: 'otherPayment', details: {} }
  }
}

/**
 * Counts the payments that can still be captured at this time (Unix seconds).
 */
function countOpen(others: readonly AttemptRecord[], time: bigint): number {
  return others.filter(({ spendableUntil }) => (spendableUntil ?? 0n) > time)
    .length
}
