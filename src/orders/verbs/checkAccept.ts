import type { Hash } from 'viem'
import { hashHex, type Keccak256 } from '../../core/keccak.js'
import { redact } from '../../core/redact.js'
import { tokenSignature } from '../../core/signature.js'
import type { AnySignedPayment, TokenDomain } from '../../core/types.js'
import { numberWord } from '../../core/words.js'
import { checkMessage } from '../../payments/verify/checkMessage.js'
import type { MessageRefusal } from '../../payments/verify/types.js'
import type { OrdersContext } from '../context/types.js'
import { type HasKinds, kindOf } from '../model/kindOf.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import { takesPayment } from '../model/refusals.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { AcceptVerdict } from '../model/types.js'

/**
 * Number of refused payments and cancellations after which an order accepts no
 * further one, so that nobody can cause requests to the node without end.
 */
export const mostTries = 10

/** The result of comparing a payment with its order, without asking a node. */
export type AcceptCheck =
  /** The payment matches the order: the node verifies it next. */
  | { verdict?: undefined }
  /** @param isTry true when the refusal counts against `mostTries`. */
  | { verdict: AcceptVerdict; isTry: boolean }

/**
 * Compares a payment with its order, without asking a node. The expected values
 * come from the stored order, never from the payment.
 */
export function checkAccept(
  context: Pick<OrdersContext, 'keccak256' | 'kinds'>,
  found: StoredOrder,
  payment: AnySignedPayment,
): AcceptCheck {
  const { order, attempt } = found
  const { state } = order
  const isOpen = takesPayment(found)
  if (isOpen && order.tries >= mostTries)
    return refuse('tooManyTries', { tries: order.tries })

  const refusal = checkAgainst(context, found, payment)
  if (refusal) return { verdict: { ok: false, ...refusal }, isTry: isOpen }

  const isSame =
    state !== 'drafted' &&
    attempt.signatureHash === hashSigned(payment, context.keccak256)
  if (isSame)
    return {
      verdict: { ok: true, order: showOrder(found), at: undefined },
      isTry: false,
    }
  if (!isOpen) {
    const isPaid = ['stored', 'capturing', 'canceling', 'captured']
    return refuse(isPaid.includes(state) ? 'otherPayment' : 'notOpen', {
      state,
    })
  }
  const { validAfter, validBefore } = payment.message
  const isOffered =
    validAfter === attempt.validAfter && validBefore === attempt.validBefore
  return isOffered
    ? {}
    : refuse(
        'wrongWindow',
        {
          found: [validAfter, validBefore],
          expected: [attempt.validAfter, attempt.validBefore],
        },
        true,
      )
}

/**
 * Hashes a signature with its window, to recognize a payment that was sent
 * again. All encodings of a signature have the same hash.
 */
export function hashSigned(
  { message, signature }: AnySignedPayment,
  keccak256: Keccak256,
): Hash {
  const form = tokenSignature(signature) ?? '0x'
  const { validAfter, validBefore } = message
  return hashHex(
    `${form}${numberWord(validAfter)}${numberWord(validBefore)}`,
    keccak256,
  )
}

function checkAgainst(
  context: HasKinds,
  { order, attempt }: StoredOrder,
  { signature, ...payment }: AnySignedPayment,
): MessageRefusal | undefined {
  const { domain, message } = draftedPaymentOf(context, order, attempt)
  const { recipient, operator } = kindOf(context, order).accounts(payment)
  // In some kinds, such as `checkout`, the message names a contract as `to`.
  // The comparison below expects the recipient there.
  const paid = { ...payment, message: { ...payment.message, to: recipient } }
  const refusal = checkMessage(paid, signature, {
    chainId: order.chainId,
    token: order.token,
    primaryType: order.primaryType,
    nonce: message.nonce,
    from: order.payer,
    to: order.recipient,
    // An empty amount skips the check of the decimal amount; the value in token
    // units is compared below.
    amount: '',
  })
  if (refusal) return refusal
  if (!isSameDomain(payment.domain, domain))
    return {
      reason: 'wrongDomain',
      details: { found: redactDomain(payment.domain), expected: domain },
    }
  // Only a payment with a ceiling has terms, which name its operator: the only
  // account that can capture it.
  if (attempt.terms && operator !== order.submitter)
    return {
      reason: 'wrongOperator',
      details: { found: operator, expected: order.submitter },
    }
  return payment.message.value === message.value
    ? undefined
    : {
        reason: 'wrongAmount',
        details: { value: payment.message.value, expected: message.value },
      }
}

/**
 * Redacts name and version before they appear in a refusal: a client can put
 * any text into them, even a signature.
 */
function redactDomain({ name, version, ...rest }: TokenDomain): TokenDomain {
  return { name: redact(name), version: redact(version), ...rest }
}

function isSameDomain(one: TokenDomain, other: TokenDomain): boolean {
  return (
    one.name === other.name &&
    one.version === other.version &&
    one.chainId === other.chainId &&
    one.verifyingContract.toLowerCase() ===
      other.verifyingContract.toLowerCase()
  )
}

function refuse(
  reason: Extract<AcceptVerdict, { ok: false }>['reason'],
  details: Readonly<Record<string, unknown>>,
  isTry = false,
): AcceptCheck {
  return { verdict: { ok: false, reason, details }, isTry }
}
