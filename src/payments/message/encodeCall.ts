import type { Address, Hex } from 'viem'
import { invalidSignature } from '../../core/errors.js'
import { parseCancellation, parsePayment } from '../../core/fields.js'
import { tokenSignature } from '../../core/signature.js'
import { selectors } from '../../core/tokenAbi.js'
import type {
  Cancellation,
  Payment,
  SignedCancellation,
  SignedPayment,
} from '../../core/types.js'
import { authorizationWords, bytesWords, word } from '../../core/words.js'

/** An encoded call, with the message that it submits. */
export type EncodedCall<signed> = {
  to: Address
  data: Hex
  /** The parsed message without its signature. */
  signed: signed
  /** The signature in the form that tokens accept. */
  signature: Hex
}

export function encodeCapture(payment: SignedPayment): EncodedCall<Payment> {
  const { signature: given, ...unsigned } = Object(payment)
  const signed = parsePayment(unsigned)
  const signature = parseTokenSignature(given)
  const { receiveVrs, receiveBytes, transferVrs, transferBytes } = selectors
  const overloads =
    signed.primaryType === 'ReceiveWithAuthorization'
      ? { vrs: receiveVrs, bytes: receiveBytes }
      : { vrs: transferVrs, bytes: transferBytes }
  const words = authorizationWords(signed.message)
  return {
    to: signed.domain.verifyingContract,
    data: encode(overloads, words, signature),
    signed,
    signature,
  }
}

export function encodeCancel(
  cancellation: SignedCancellation,
): EncodedCall<Cancellation> {
  const { signature: given, ...unsigned } = Object(cancellation)
  const signed = parseCancellation(unsigned)
  const signature = parseTokenSignature(given)
  const { cancelVrs, cancelBytes } = selectors
  const words = word(signed.message.authorizer) + word(signed.message.nonce)
  return {
    to: signed.domain.verifyingContract,
    data: encode({ vrs: cancelVrs, bytes: cancelBytes }, words, signature),
    signed,
    signature,
  }
}

/**
 * True for a signature of 65 bytes, which the call passes as `v`, `r`, `s`. Any
 * other is passed as `bytes`.
 */
export function isPlain(signature: Hex): boolean {
  return signature.length === 132
}

/**
 * Parses a signature into the form that tokens accept. Its errors never contain
 * the signature.
 */
function parseTokenSignature(signature: unknown): Hex {
  const normal = tokenSignature(signature)
  if (!normal)
    throw invalidSignature('signature', signature, 'a wallet signature')
  return normal
}

/**
 * Encodes the data of a call: selector, arguments (`words`), then the
 * signature.
 */
function encode(
  overloads: { vrs: string; bytes: string },
  words: string,
  signature: Hex,
): Hex {
  const [rs, v] = [signature.slice(2, 130), signature.slice(130)]
  const offset = words.length / 2 + 32
  return isPlain(signature)
    ? `0x${overloads.vrs}${words}${v.padStart(64, '0')}${rs}`
    : `0x${overloads.bytes}${words}${word(offset)}${bytesWords(signature)}`
}
