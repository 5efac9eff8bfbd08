import { bytesToHex, type Hex, hexToBytes, keccak256 } from 'viem'
import { InvalidFieldError, shown } from './errors.js'

/**
 * A function that returns the Keccak-256 hash of bytes, as 32 bytes in a new
 * array. `keccak_256` of `@noble/hashes` is one.
 */
export type Keccak256 = (data: Uint8Array) => Uint8Array

export const viemKeccak256: Keccak256 = (data) => keccak256(data, 'bytes')

/** Hashes hex data with the given function. Returns hex. */
export function hashHex(data: Hex, keccak256: Keccak256): Hex {
  return bytesToHex(keccak256(hexToBytes(data)))
}

/**
 * Hashes a text as UTF-8 with the given function, which may be faster than that
 * of `hashText`.
 */
export function hashTextBy(
  text: string,
  keccak256: Keccak256 = viemKeccak256,
): Hex {
  return bytesToHex(keccak256(new TextEncoder().encode(text)))
}

/** @throws {@link InvalidFieldError} when `keccak256` is not a function. */
export function checkKeccak(keccak256: unknown): void {
  if (typeof keccak256 !== 'function')
    throw new InvalidFieldError('keccak256', shown(keccak256), 'a function')
}
