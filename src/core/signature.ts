import type { Hex } from 'viem'
import { numberWord } from './words.js'

/** The order of secp256k1 (SEC 2, section 2.4.1). */
const curveOrder =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * Last 32 bytes of an ERC-6492 signature, that of a wallet that is not deployed
 * yet.
 */
const erc6492Magic =
  '6492649264926492649264926492649264926492649264926492649264926492'

/**
 * Brings a signature into the form that tokens accept: 65 bytes, `v` 27 or 28,
 * low `s`, EIP-2098 expanded. Leaves signatures of contract wallets unchanged,
 * because the token passes them to the wallet. These are longer ones, and 65
 * bytes that no key makes: another `v`, or a Safe's approved hash (`v` 1, an
 * address in `r`).
 *
 * Returns `undefined` for a signature that no wallet makes: under 64 or over
 * 16384 bytes, or ECDSA values out of range.
 */
export function normalizeSignature(signature: unknown): Hex | undefined {
  const text = typeof signature === 'string' ? signature.toLowerCase() : ''
  if (!/^0x([\da-f]{2}){64,16384}$/.test(text)) return undefined
  if (text.length > 132) return text as Hex

  const r = BigInt(text.slice(0, 66))
  const tail = BigInt(`0x${text.slice(66, 130)}`)
  const last = text.slice(130)
  const s = BigInt.asUintN(last ? 256 : 255, tail)
  const v = last ? Number(`0x${last}`) : Number(tail >> 255n)
  const parity = v < 27 ? v : v - 27
  if (parity > 1 || (last === '01' && !(r >> 160n))) return text as Hex
  if (!r || r >= curveOrder || !s || s >= curveOrder) return undefined

  const high = s > curveOrder / 2n
  const low = numberWord(high ? curveOrder - s : s)
  return `${text.slice(0, 66) as Hex}${low}${high === (parity === 1) ? '1b' : '1c'}`
}

export function isWrappedSignature(signature: Hex): boolean {
  return signature.toLowerCase().endsWith(erc6492Magic)
}

/**
 * Removes the ERC-6492 wrapper of a signature: `abi.encode(address, bytes,
 * bytes)` and magic bytes. Tokens do not understand the wrapper, and a deployed
 * wallet accepts the inner signature.
 *
 * Returns `undefined` if the inner signature is wrapped again: a validator
 * would make the call in the inner wrapper, to any contract.
 */
export function unwrapSignature(signature: Hex): Hex | undefined {
  if (!isWrappedSignature(signature)) return signature
  const body = signature.slice(2)
  const offset = Number(`0x${body.slice(128, 192)}`) * 2
  const length = Number(`0x${body.slice(offset, offset + 64)}`) * 2
  const start = offset + 64
  if (!(start + length <= body.length)) return undefined
  const inner: Hex = `0x${body.slice(start, start + length)}`
  return isWrappedSignature(inner) ? undefined : inner
}

/**
 * Returns the form of a signature in which it is sent to the token: unwrapped
 * and normalized. Returns `undefined` if no token can accept it.
 */
export function tokenSignature(signature: unknown): Hex | undefined {
  return typeof signature === 'string'
    ? normalizeSignature(unwrapSignature(signature as Hex))
    : undefined
}
