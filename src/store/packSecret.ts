import { bytesToHex, hexToBytes } from '@noble/ciphers/utils.js'

/**
 * First byte of the packed secret: whether the rest is hex or any other text.
 */
const hexMark = 1
const textMark = 0

const packable = /^0x(?:[\da-f]{2})*$/

/**
 * Packs a secret into bytes. Lower-case hex takes one byte for two digits; any
 * other text is UTF-8.
 */
export function packSecret(secret: string): Uint8Array {
  return packable.test(secret)
    ? mark(hexMark, hexToBytes(secret.slice(2)))
    : mark(textMark, new TextEncoder().encode(secret))
}

export function unpackSecret(packed: Uint8Array): string {
  const bytes = packed.subarray(1)
  return packed[0] === hexMark
    ? `0x${bytesToHex(bytes)}`
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

function mark(first: number, bytes: Uint8Array): Uint8Array {
  const marked = new Uint8Array(1 + bytes.length)
  marked[0] = first
  marked.set(bytes, 1)
  return marked
}
