import type { Address, Hex } from 'viem'
import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parseCheckedAddress } from '../core/parseCheckedAddress.js'
import { word } from '../core/words.js'
import {
  type BuildPaymentParameters,
  buildPayment,
} from '../payments/message/buildPayment.js'
import { permitCheckoutAddress } from './checkoutContracts.js'
import type { PermitPayment } from './types.js'

/** Token, accounts, ceiling and deadline for {@link buildPermitPayment}. */
export type BuildPermitPaymentParameters = Pick<
  BuildPaymentParameters,
  'domain' | 'decimals' | 'from' | 'now' | 'validBefore'
> & {
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
  /** The payer's next permit nonce, from the token's function `nonces`. */
  nonce: bigint
}

/**
 * Builds the permit that a payer signs for an order whose total is known later,
 * for tokens without EIP-3009. The permit's spender is the checkout contract of
 * recipient and operator.
 *
 * Nothing is reserved. Permit nonces are sequential: keep only one open permit
 * for each payer and token, because the use of a later permit makes an earlier
 * one invalid.
 *
 * @throws {@link InvalidAmountError} when `atMost` is not a positive decimal
 * the token can represent.
 * @throws {@link InvalidFieldError} when another field is malformed, or payer
 * and recipient are the same.
 *
 * @example
 * ```ts
 * import type { TokenDomain } from 'countersign'
 * import { buildPermitPayment } from 'countersign/checkout'
 *
 * const draft = (domain: TokenDomain, nonce: bigint) =>
 *   buildPermitPayment({
 *     domain,
 *     decimals: 18,
 *     from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *     to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *     atMost: '50.00',
 *     nonce,
 *   })
 * ```
 */
export function buildPermitPayment(
  parameters: BuildPermitPaymentParameters,
): PermitPayment {
  checkMembers(parameters, [
    'domain',
    'decimals',
    'from',
    'to',
    'atMost',
    'operator',
    'nonce',
    'now',
    'validBefore',
  ])
  const {
    to,
    atMost,
    operator = to,
    nonce,
    ...fields
  }: typeof parameters = Object(parameters)
  if (typeof nonce !== 'bigint' || nonce < 0n)
    throw new InvalidFieldError('nonce', shown(nonce), 'a bigint of 0 or more')
  const checkout = {
    recipient: parseCheckedAddress(to, 'to'),
    operator: parseCheckedAddress(operator, 'operator'),
  }
  const { domain, message } = buildPayment({
    ...fields,
    to: permitCheckoutAddress(checkout),
    amount: atMost,
    nonce: nonceBytes(nonce),
  })
  if (checkout.recipient === message.from)
    throw new InvalidFieldError(
      'to',
      shown(to),
      'another account than the payer',
    )
  return { primaryType: 'Permit', domain, message, checkout }
}

function nonceBytes(nonce: bigint): Hex {
  return `0x${word(nonce)}`
}
