import type { Hex } from 'viem'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parseAddress, parseBytes32, parsePayment } from '../core/fields.js'
import { hashHex, viemKeccak256 } from '../core/keccak.js'
import type { Payment, SignedPayment } from '../core/types.js'
import { word } from '../core/words.js'
import { checkoutAddress } from './checkoutContracts.js'
import type {
  CheckoutPayment,
  CheckoutTerms,
  SignedCheckoutPayment,
} from './types.js'

const termsMembers: MembersOf<CheckoutTerms> = {
  recipient: true,
  operator: true,
  salt: true,
}

/**
 * Parses a checkout payment, signed or not. Refuses it unless its message pays
 * the checkout contract and its nonce is the hash of its terms.
 */
export function parseCheckoutPayment(
  value: unknown,
): CheckoutPayment | SignedCheckoutPayment {
  const { checkout, ...rest } = Object(value)
  return bindTerms(parsePayment(rest), parseTerms(checkout))
}

/**
 * Adds the terms to a payment. Throws if the payment's nonce is not the hash of
 * these terms.
 */
export function bindTerms<payment extends Payment | SignedPayment>(
  payment: payment,
  checkout: CheckoutTerms,
): payment & { checkout: CheckoutTerms } {
  const { primaryType, message } = payment
  const bound = { ...payment, checkout }
  const checks = [
    ['primaryType', primaryType, 'ReceiveWithAuthorization'],
    ['message.to', message.to, checkoutAddress],
    ['message.nonce', message.nonce, hashTerms(bound)],
  ] as const
  for (const [field, found, expected] of checks)
    if (found !== expected)
      throw new InvalidFieldError(
        `payment.${field}`,
        shown(found),
        `${expected}, as the terms of the checkout say`,
      )
  return bound
}

export function parseTerms(value: unknown): CheckoutTerms {
  const field = 'payment.checkout'
  if (typeof value !== 'object' || !value)
    throw new InvalidFieldError(field, value, 'an object')
  checkMembers<object>(value, termsMembers, field)
  const { recipient, operator, salt }: Partial<CheckoutTerms> = value
  return {
    recipient: parseAddress(recipient, `${field}.recipient`),
    operator: parseAddress(operator, `${field}.operator`),
    salt: parseBytes32(salt, `${field}.salt`),
  }
}

/** Encodes the checkout contract's struct `Terms` as ABI words. */
export function termsWords({
  domain,
  message,
  checkout,
}: CheckoutPayment): string {
  const { recipient, operator, salt } = checkout
  return (
    word(domain.verifyingContract) +
    word(message.from) +
    word(recipient) +
    word(operator) +
    word(message.value) +
    word(message.validAfter) +
    word(message.validBefore) +
    word(salt)
  )
}

/**
 * Computes the payment nonce of a checkout payment: the hash of chain id,
 * contract and terms.
 */
export function hashTerms(payment: CheckoutPayment): Hex {
  const place = word(payment.domain.chainId) + word(checkoutAddress)
  return hashHex(`0x${place}${termsWords(payment)}`, viemKeccak256)
}
