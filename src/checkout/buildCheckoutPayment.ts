import type { Address, Hex } from 'viem'
import { checkMembers } from '../core/checkMembers.js'
import { drawNonce } from '../core/drawNonce.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parseAddress, parseBytes32 } from '../core/fields.js'
import type { Payment } from '../core/types.js'
import {
  type BuildPaymentParameters,
  buildPayment,
} from '../payments/message/buildPayment.js'
import { checkoutAddress } from './checkoutContracts.js'
import { bindTerms, hashTerms } from './parseCheckoutPayment.js'
import type { CheckoutPayment } from './types.js'

/**
 * The fields in which a checkout payment differs from an exact one: a ceiling,
 * an operator and a salt, in place of amount and nonce.
 */
export type CheckoutFields = {
  /** Account that is paid. */
  to: Address
  /**
   * The largest amount that can be captured, such as `'50.00'`, in whole
   * tokens.
   */
  atMost: string
  /**
   * The only account that can capture the payment.
   * @default the recipient
   */
  operator?: Address | undefined
  /** 32 bytes, never used before. @default random bytes from Web Crypto */
  salt?: Hex | undefined
}

/** Token, accounts, ceiling and window for {@link buildCheckoutPayment}. */
export type BuildCheckoutPaymentParameters = CheckoutFields &
  Omit<BuildPaymentParameters, 'to' | 'amount' | 'nonce' | 'primaryType'>

/**
 * Builds the message that a payer signs for an order whose total is known
 * later. The payer signs a ceiling; the operator captures an amount up to it,
 * once, and the rest never leaves the payer.
 *
 * Nothing is reserved: the payer can still move the funds before capture.
 *
 * @throws {@link InvalidAmountError} when `atMost` is not a positive decimal
 * the token can represent.
 * @throws {@link InvalidFieldError} when another field is malformed, payer and
 * recipient are the same, or the window is empty.
 * @throws {@link NoRandomnessError} when no salt is given and there is no Web
 * Crypto.
 *
 * @example
 * ```ts
 * import { buildCheckoutPayment } from 'countersign/checkout'
 *
 * const payment = buildCheckoutPayment({
 *   domain: {
 *     name: 'USD Coin',
 *     version: '2',
 *     chainId: 8453,
 *     verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   },
 *   from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *   atMost: '50.00',
 * })
 * ```
 */
export function buildCheckoutPayment(
  parameters: BuildCheckoutPaymentParameters,
): CheckoutPayment {
  checkMembers(parameters, [
    'domain',
    'decimals',
    'from',
    'to',
    'atMost',
    'operator',
    'salt',
    'now',
    'validAfter',
    'validBefore',
  ])
  const { to, atMost, operator, salt, ...fields }: typeof parameters =
    Object(parameters)
  const unbound = buildPayment({
    ...fields,
    to: checkoutAddress,
    amount: atMost,
    nonce: emptyNonce,
  })
  return withTerms(unbound, { to, operator, salt })
}

/**
 * Stands for the payment nonce until the terms are complete, because the nonce
 * is their hash.
 */
export const emptyNonce: Hex = /* @__PURE__ */ `0x${'0'.repeat(64)}`

/**
 * Adds the terms to a payment: recipient, operator and salt. Their hash becomes
 * the payment nonce.
 */
export function withTerms(
  payment: Payment,
  { to, operator = to, salt = drawNonce() }: Omit<CheckoutFields, 'atMost'>,
): CheckoutPayment {
  const recipient = parseAddress(to, 'to')
  if (recipient === payment.message.from)
    throw new InvalidFieldError(
      'to',
      shown(to),
      'another account than the payer',
    )
  const checkout = {
    recipient,
    operator: parseAddress(operator, 'operator'),
    salt: parseBytes32(salt, 'salt'),
  }
  const nonce = hashTerms({ ...payment, checkout })
  const message = { ...payment.message, nonce }
  return bindTerms({ ...payment, message }, checkout)
}
