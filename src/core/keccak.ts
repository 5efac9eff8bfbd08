import { bytesToHex, type Hex, hexToBytes, keccak256 } from 'viem'
import { InvalidFieldError } from './errors.js'

/**
 * Returns the Keccak-256 hash of bytes: 32 bytes in a new array. Compatible
 * with `keccak_256` of `@noble/hashes`.
 */
export type Keccak256 = (data: Uint8Array) => Uint8Array

/** The implementation of viem, in JavaScript. */
export const viemKeccak256: Keccak256 = (data) => keccak256(data, 'bytes')

/** Hashes hex text, of whole bytes, to hex text. */
export function hashHex(data: Hex, keccak256: Keccak256): Hex {
  return bytesToHex(keccak256(hexToBytes(data)))
}

/** @throws {@link InvalidFieldError} when it is not a function. */
export function checkKeccak(keccak256: unknown): void {
  if (typeof keccak256 !== 'function')
    throw new InvalidFieldError('keccak256', keccak256, 'a function')
}
