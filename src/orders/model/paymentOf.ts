import type { Hex } from 'viem'
import type { Payment, SignedPayment } from '../../core/types.js'
import type {
  AttemptRecord,
  OrderRecord,
  SealContext,
} from '../../store/types.js'
import { OrdersSetupError } from './errors.js'
import { openSealed } from './openSealed.js'
import type { DraftedPayment, OrdersContext } from './types.js'

/** Builds the payment that an attempt offers to the buyer to sign. */
export function draftedPaymentOf(
  order: OrderRecord,
  attempt: AttemptRecord,
): DraftedPayment {
  const { validAfter, validBefore, nonce } = attempt
  const { primaryType, value, payer } = order
  return {
    primaryType,
    domain: {
      name: order.tokenName,
      version: order.tokenVersion,
      chainId: order.chainId,
      verifyingContract: order.token,
    },
    message: {
      ...(payer === undefined ? {} : { from: payer }),
      // A refund goes the other way: its payer is the recipient.
      to: order.refundTo ?? order.recipient,
      value,
      validAfter,
      validBefore,
      nonce,
    },
  }
}

/** Builds the payment that the attempt's signature is for. */
export function paymentOf(order: OrderRecord, attempt: AttemptRecord): Payment {
  const { primaryType, domain, message } = draftedPaymentOf(order, attempt)
  const from = attempt.payer ?? order.payer
  if (!from)
    throw new OrdersSetupError('found an attempt without a payer', {
      orderId: order.id,
    })
  return {
    primaryType,
    domain,
    message: {
      ...message,
      from,
      validAfter: attempt.signedAfter ?? attempt.validAfter,
      validBefore: attempt.signedBefore ?? attempt.validBefore,
    },
  }
}

/**
 * Loads the payment with its signature; `undefined` if the signature is erased
 * or its seal does not open.
 */
export async function signedPaymentOf(
  context: Pick<OrdersContext, 'sealer' | 'observe'>,
  order: OrderRecord,
  attempt: AttemptRecord,
): Promise<SignedPayment | undefined> {
  const payment = paymentOf(order, attempt)
  if (attempt.signature === undefined) return undefined
  const signature = await openSealed(
    context,
    attempt.signature,
    sealContextOf('payment', order, attempt),
  )
  return signature === undefined
    ? undefined
    : { ...payment, signature: signature as Hex }
}

/** Builds the context that a sealed secret of an attempt is bound to. */
export function sealContextOf(
  kind: SealContext['kind'],
  order: OrderRecord,
  attempt: AttemptRecord,
): SealContext {
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
