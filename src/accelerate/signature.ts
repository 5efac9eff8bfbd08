import { type Address, bytesToHex, type Hex, hexToBytes } from 'viem'
import { parseBytes32 } from '../core/fields.js'
import type { Keccak256 } from '../core/keccak.js'
import { normalizeSignature } from '../core/signature.js'

/**
 * The functions of ox's WebAssembly module for secp256k1 that are used here.
 */
export type Curve = {
  getPublicKey(privateKey: Uint8Array): Uint8Array
  /** Returns 65 bytes: the recovery bit, then `r` and `s`. */
  sign(
    hash: Uint8Array,
    privateKey: Uint8Array,
    options: { extraEntropy: false; lowS: true; prehash: false },
  ): Uint8Array
  recoverPublicKey(signature: Uint8Array, hash: Uint8Array): Uint8Array
}

export type Tools = {
  curve: Curve
  keccak256: Keccak256
}

export type SignatureParts = {
  r: Hex
  s: Hex
  v: bigint
  yParity: number
}

/**
 * Signs a hash with the deterministic nonce of RFC 6979 and a low `s`, as viem
 * does.
 */
export function signHash(
  { curve }: Tools,
  hash: Uint8Array,
  privateKey: Uint8Array,
): SignatureParts {
  const signed = curve.sign(hash, privateKey, {
    extraEntropy: false,
    lowS: true,
    prehash: false,
  })
  const yParity = signed[0] === 1 ? 1 : 0
  return {
    r: bytesToHex(signed.subarray(1, 33)),
    s: bytesToHex(signed.subarray(33)),
    v: yParity ? 28n : 27n,
    yParity,
  }
}

/** Joins the parts of a signature into the 65 bytes that wallets return. */
export function joinSignature({ r, s, yParity }: SignatureParts): Hex {
  return `${r}${s.slice(2)}${yParity ? '1c' : '1b'}`
}

/**
 * Recovers the address that signed a digest, or `undefined` if there is none.
 */
export function recoverSigner(
  { curve, keccak256 }: Tools,
  { hash, signature }: { hash: Hex; signature: Hex },
): Address | undefined {
  const digest = hexToBytes(parseBytes32(hash, 'hash'))
  const normal = normalizeSignature(signature)
  const v = normal?.slice(130)
  if (!normal || (v !== '1b' && v !== '1c')) return undefined
  const recoverable = new Uint8Array(65)
  recoverable[0] = v === '1c' ? 1 : 0
  recoverable.set(hexToBytes(normal).subarray(0, 64), 1)
  try {
    const key = curve.recoverPublicKey(recoverable, digest)
    return addressOf(key, keccak256)
  } catch {
    return undefined
  }
}

export function addressOf(
  publicKey: Uint8Array,
  keccak256: Keccak256,
): Address {
  return bytesToHex(keccak256(publicKey.subarray(1)).subarray(12))
}
