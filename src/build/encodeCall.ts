import type { Address, Hex } from 'viem'
import { InvalidFieldError } from '../base/errors.js'
import { readCancellation, readPayment } from '../base/fields.js'
import { tokenSignature } from '../base/signature.js'
import { selectors } from '../base/tokenAbi.js'
import type {
  CancelAuthorization,
  PaymentAuthorization,
  SignedCancellation,
  SignedPayment,
} from '../base/types.js'
import { authorizationWords, bytesWords, word } from '../base/words.js'

/** What a transaction needs of a call, and what the call was made from. */
export type EncodedCall<message> = {
  to: Address
  data: Hex
  functionName: string
  message: message
  /** In the form tokens accept. */
  signature: Hex
}

/** The call that settles a payment, without its ABI. */
export function encodeCapture(
  payment: SignedPayment,
): EncodedCall<PaymentAuthorization> {
  const { signature: given, ...unsigned } = Object(payment)
  const { domain, message, primaryType } = readPayment(unsigned)
  const signature = readTokenSignature(given)
  const words = authorizationWords(message)
  const receives = primaryType === 'ReceiveWithAuthorization'
  return {
    to: domain.verifyingContract,
    data: receives
      ? encode(selectors.receiveVrs, selectors.receiveBytes, words, signature)
      : encode(
          selectors.transferVrs,
          selectors.transferBytes,
          words,
          signature,
        ),
    functionName: receives
      ? 'receiveWithAuthorization'
      : 'transferWithAuthorization',
    message,
    signature,
  }
}

/** The call that makes a payment's nonce unusable, without its ABI. */
export function encodeCancel(
  cancellation: SignedCancellation,
): EncodedCall<CancelAuthorization> {
  const { signature: given, ...unsigned } = Object(cancellation)
  const { domain, message } = readCancellation(unsigned)
  const signature = readTokenSignature(given)
  const words = word(message.authorizer) + word(message.nonce)
  return {
    to: domain.verifyingContract,
    data: encode(selectors.cancelVrs, selectors.cancelBytes, words, signature),
    functionName: 'cancelAuthorization',
    message,
    signature,
  }
}

/** Whether a signature goes as `v`, `r`, `s` and not as `bytes`. */
export function isPlain(signature: Hex): boolean {
  return signature.length === 132
}

export function splitSignature(signature: Hex): { v: number; r: Hex; s: Hex } {
  return {
    v: Number(`0x${signature.slice(130)}`),
    r: `0x${signature.slice(2, 66)}`,
    s: `0x${signature.slice(66, 130)}`,
  }
}

/** The signature in the form tokens accept, or an error that never shows it. */
function readTokenSignature(signature: unknown): Hex {
  const normal = tokenSignature(signature)
  if (!normal)
    throw new InvalidFieldError('signature', signature, 'a wallet signature')
  return normal
}

/** Static words followed by a signature. */
function encode(
  vrsSelector: string,
  bytesSelector: string,
  words: string,
  signature: Hex,
): Hex {
  if (!isPlain(signature)) {
    const offset = word(words.length / 2 + 32)
    return `0x${bytesSelector}${words}${offset}${bytesWords(signature)}`
  }
  const { v, r, s } = splitSignature(signature)
  return `0x${vrsSelector}${words}${word(v)}${word(r)}${word(s)}`
}
