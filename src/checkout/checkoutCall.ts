import type { Abi } from 'viem'
import { parseAmount } from '../core/amount.js'
import { checkMembers } from '../core/checkMembers.js'
import { InvalidAmountError, invalidSignature } from '../core/errors.js'
import { requireSignature } from '../core/fields.js'
import { tokenSignature } from '../core/signature.js'
import { bytesWords, word } from '../core/words.js'
import type { TokenCall } from '../payments/message/captureCall.js'
import type { EncodedCall } from '../payments/message/encodeCall.js'
import { checkoutAddress } from './checkoutContracts.js'
import { checkoutAbi } from './contracts/Checkout.generated.js'
import { parseCheckoutPayment, termsWords } from './parseCheckoutPayment.js'
import type { CheckoutPayment, SignedCheckoutPayment } from './types.js'

/** The signed payment, and the amount that {@link checkoutCall} captures. */
export type CheckoutCallParameters = {
  payment: SignedCheckoutPayment
  /** A decimal such as `'42.10'`, in whole tokens; at most the ceiling. */
  amount: string
  /** Decimals of the token. @default 6 */
  decimals?: number | undefined
}

/**
 * Builds the call that captures a checkout payment for an amount. Only the
 * operator can send the call.
 *
 * Does not check whether the contract accepts the call: use `verifyPayment`.
 *
 * @throws {@link InvalidAmountError} when the amount is not a positive decimal,
 * or above the ceiling.
 * @throws {@link InvalidFieldError} when another field is malformed.
 *
 * @example
 * ```ts
 * import { checkoutCall, type SignedCheckoutPayment } from 'countersign/checkout'
 *
 * const call = (payment: SignedCheckoutPayment) =>
 *   checkoutCall({ payment, amount: '42.10' })
 * ```
 */
export function checkoutCall(parameters: CheckoutCallParameters): TokenCall {
  checkMembers(parameters, ['payment', 'amount', 'decimals'])
  const { amount, decimals }: CheckoutCallParameters = Object(parameters)
  const payment = requireSignature(
    parseCheckoutPayment(Object(parameters).payment),
  )
  const value = parseAmount(amount, decimals)
  const { domain, message, checkout } = payment
  if (value > message.value)
    throw new InvalidAmountError(
      amount,
      `at most the ceiling of ${message.value} units`,
    )
  const call = encodeCheckoutCapture(payment, value)
  const terms = {
    token: domain.verifyingContract,
    payer: message.from,
    recipient: checkout.recipient,
    operator: checkout.operator,
    ceiling: message.value,
    validAfter: message.validAfter,
    validBefore: message.validBefore,
    salt: checkout.salt,
  }
  const abi: Abi = checkoutAbi.filter(({ name }) => name === 'capture')
  return {
    to: call.to,
    data: call.data,
    address: call.to,
    abi,
    functionName: 'capture',
    args: [terms, value, call.signature],
  }
}

/** Selector of the contract function `capture(Terms,uint256,bytes)`. */
const captureSelector = 'd07b6fb8'

/**
 * Number of ABI words before the signature: the terms, the amount and the
 * offset of the signature.
 */
const headWords = 10

export function encodeCheckoutCapture(
  payment: SignedCheckoutPayment,
  amount: bigint,
): EncodedCall<CheckoutPayment> {
  const { signature: given, ...signed } = payment
  const signature = tokenSignature(given)
  if (!signature)
    throw invalidSignature('signature', given, 'a wallet signature')
  const head = termsWords(payment) + word(amount) + word(headWords * 32)
  return {
    to: checkoutAddress,
    data: `0x${captureSelector}${head}${bytesWords(signature)}`,
    signed,
    signature,
  }
}
