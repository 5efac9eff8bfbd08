import type { PaymentAuthorization } from './types.js'

/** A number as one ABI word, hex text without `0x`. */
export function numberWord(value: bigint | number): string {
  return value.toString(16).padStart(64, '0')
}

/**
 * ABI words as hex text without `0x`. Calls and digests here consist of static
 * words and at most one trailing `bytes`, so nothing more is needed.
 */
export function word(value: bigint | number | string): string {
  return typeof value === 'string'
    ? value.slice(2).toLowerCase().padStart(64, '0')
    : numberWord(value)
}

/** `bytes` as length and content, padded to whole words. */
export function bytesWords(bytes: string): string {
  const body = bytes.slice(2)
  return (
    word(body.length / 2) + body.padEnd(Math.ceil(body.length / 64) * 64, '0')
  )
}

/**
 * The six members of the message, in the order of the EIP-712 type and of the
 * token's functions.
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
