import type { Hex } from 'viem'

/** The order of secp256k1 (SEC 2, section 2.4.1). */
const curveOrder =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The last 32 bytes of a signature wrapped for a wallet yet to be deployed. */
const erc6492Magic =
  '6492649264926492649264926492649264926492649264926492649264926492'

const word = (value: bigint): string => value.toString(16).padStart(64, '0')

/**
 * Brings a signature into the form tokens accept: 65 bytes, `v` 27 or 28, low
 * `s`, EIP-2098 expanded. Longer signatures belong to contract wallets and stay
 * as they are, and so do the two 65-byte forms only a Safe makes: an `eth_sign`
 * (`v` 31 or 32) and an approved hash (`v` 1, an address in `r`).
 *
 * Gives `undefined` for what no wallet makes: under 64 bytes, or ECDSA values
 * out of range.
 */
export function normalizeSignature(signature: unknown): Hex | undefined {
  if (
    typeof signature !== 'string' ||
    !/^0x([\da-f]{2}){64,}$/i.test(signature)
  )
    return undefined
  const hex = signature.slice(2).toLowerCase()
  if (hex.length > 130) return `0x${hex}`

  const r = BigInt(`0x${hex.slice(0, 64)}`)
  const sWord = BigInt(`0x${hex.slice(64, 128)}`)
  const compact = hex.length === 128
  const s = compact ? BigInt.asUintN(255, sWord) : sWord
  const v = compact ? Number(sWord >> 255n) : Number(`0x${hex.slice(128)}`)

  const approvedHash = v === 1 && !compact && r >> 160n === 0n
  if (approvedHash || v === 31 || v === 32) return `0x${hex}`
  const parity = v < 27 ? v : v - 27
  const inRange = (value: bigint) => value > 0n && value < curveOrder
  if (parity > 1 || !inRange(r) || !inRange(s)) return undefined

  const high = s > curveOrder / 2n
  return `0x${word(r)}${word(high ? curveOrder - s : s)}${
    27 + (high ? 1 - parity : parity) === 27 ? '1b' : '1c'
  }`
}

/** Whether a signature carries ERC-6492's wrapper. */
export function isWrappedSignature(signature: Hex): boolean {
  return signature.toLowerCase().endsWith(erc6492Magic)
}

/**
 * Takes off ERC-6492's wrapper, `abi.encode(address, bytes, bytes)` and magic:
 * no token understands it, and a deployed wallet accepts what is inside.
 */
export function unwrapSignature(signature: Hex): Hex {
  if (!isWrappedSignature(signature)) return signature
  const body = signature.slice(2)
  const offset = Number(`0x${body.slice(128, 192)}`) * 2
  const length = Number(`0x${body.slice(offset, offset + 64)}`) * 2
  const start = offset + 64
  return start + length <= body.length
    ? `0x${body.slice(start, start + length)}`
    : signature
}

/** The signature as `captureCall` and the rehearsal send it, or `undefined`. */
export function tokenSignature(signature: unknown): Hex | undefined {
  return typeof signature === 'string'
    ? normalizeSignature(unwrapSignature(signature as Hex))
    : undefined
}
