import type { PaymentAuthorization } from './types.js'

/** Encodes a number as one ABI word: 64 hex digits without `0x`. */
export function numberWord(value: bigint | number): string {
  return value.toString(16).padStart(64, '0')
}

/**
 * Encodes a value as one ABI word: 64 hex digits without `0x`. Takes only
 * values of fixed length: no call or digest here needs more, except one `bytes`
 * at the end.
 */
export function word(value: bigint | number | string): string {
  return typeof value === 'string'
    ? value.slice(2).toLowerCase().padStart(64, '0')
    : numberWord(value)
}

/** Encodes ABI `bytes`: the length, then the content padded to whole words. */
export function bytesWords(bytes: string): string {
  const body = bytes.slice(2)
  return (
    word(body.length / 2) + body.padEnd(Math.ceil(body.length / 64) * 64, '0')
  )
}

/**
 * Encodes the six members of the message, in the order of the EIP-712 type and
 * of the token's functions.
 */
export function authorizationWords(message: PaymentAuthorization): string {
  const { from, to, value, validAfter, validBefore, nonce } = message
  return (
    word(from) +
    word(to) +
    word(value) +
    word(validAfter) +
    word(validBefore) +
    word(nonce)
  )
}
