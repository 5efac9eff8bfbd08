import { type Hex, zeroAddress } from 'viem'
import type { AnyPayment, Cancellation, Payment } from '../../core/types.js'
import { buildAuthorization, type StoredFields } from '../../payments/kind.js'
import type {
  AttemptRecord,
  OrderRecord,
  SealContext,
} from '../../store/types.js'
import { OrdersSetupError } from './errors.js'
import { type HasKinds, kindOf } from './kindOf.js'
import type { RefundRow } from './storedOrder.js'
import type { AnyDraftedPayment } from './types.js'

/**
 * Fields of an order and its attempt that are known before the store has
 * inserted them.
 */
type OrderFields = Omit<OrderRecord, 'version' | 'position'>
type AttemptFields = Omit<AttemptRecord, 'version'>

/** Builds the payment that the buyer is asked to sign for an attempt. */
export function draftedPaymentOf(
  context: HasKinds,
  order: OrderFields,
  attempt: AttemptFields,
): AnyDraftedPayment {
  const { validAfter, validBefore } = attempt
  const { payer } = order
  if (payer !== undefined)
    return buildOf(context, order, attempt, { payer, validAfter, validBefore })
  const { primaryType, domain, message } = buildOf(context, order, attempt, {
    payer: zeroAddress,
    validAfter,
    validBefore,
  })
  const { from, ...unsigned } = message
  return { primaryType, domain, message: unsigned }
}

/**
 * Builds the payment that the buyer signed for an attempt, without the
 * signature.
 */
export function paymentOf(
  context: HasKinds,
  order: OrderRecord,
  attempt: AttemptRecord,
): AnyPayment {
  const payer = attempt.payer ?? order.payer
  if (!payer)
    throw new OrdersSetupError('found an attempt without a payer', {
      orderId: order.id,
    })
  return buildOf(context, order, attempt, {
    payer,
    ...signedWindowOf(attempt),
  })
}

function signedWindowOf(attempt: AttemptRecord): Omit<Signed, 'payer'> {
  return {
    validAfter: attempt.signedAfter ?? attempt.validAfter,
    validBefore: attempt.signedBefore ?? attempt.validBefore,
  }
}

/** Builds the payment of a refund, which is always EIP-3009. */
export function refundPaymentOf(
  row: RefundRow,
  attempt: AttemptRecord,
): Payment {
  const signed = { payer: row.recipient, ...signedWindowOf(attempt) }
  return buildAuthorization({
    ...fieldsOf(row, attempt, signed),
    primaryType: 'TransferWithAuthorization',
  })
}

/** Builds the message that cancels the payment of an attempt. */
export function cancellationOf(
  context: HasKinds,
  order: OrderRecord,
  attempt: AttemptRecord,
): Cancellation {
  const { domain, message } = paymentOf(context, order, attempt)
  const { from: authorizer, nonce } = message
  return {
    primaryType: 'CancelAuthorization',
    domain,
    message: { authorizer, nonce },
  }
}

type Signed = Pick<StoredFields, 'payer' | 'validAfter' | 'validBefore'>

function buildOf(
  context: HasKinds,
  order: OrderFields,
  attempt: AttemptFields,
  signed: Signed,
): AnyPayment {
  return kindOf(context, order).build(fieldsOf(order, attempt, signed))
}

function fieldsOf(
  order: OrderFields,
  { nonce, terms }: AttemptFields,
  signed: Signed,
): StoredFields {
  return {
    ...signed,
    primaryType: order.primaryType,
    domain: {
      name: order.tokenName,
      version: order.tokenVersion,
      chainId: order.chainId,
      verifyingContract: order.token,
    },
    recipient: order.payee ?? order.recipient,
    value: order.value,
    nonce,
    terms,
  }
}

type PaymentSeal = Extract<SealContext, { nonce: Hex }>

/**
 * Builds the context to which an encrypted secret of an attempt is bound: the
 * secret cannot be decrypted with another context.
 */
export function sealContextOf(
  kind: PaymentSeal['kind'],
  order: OrderRecord,
  attempt: AttemptRecord,
): PaymentSeal {
  const payer = attempt.payer ?? order.payer
  if (!payer)
    throw new OrdersSetupError('cannot seal without a payer', {
      orderId: order.id,
    })
  return {
    kind,
    orderId: order.id,
    attempt: attempt.number,
    chainId: order.chainId,
    token: order.token,
    payer,
    nonce: attempt.nonce,
  }
}
