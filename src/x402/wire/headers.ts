import type { PaymentPayload } from '@x402/core/types'
import type { Hex } from 'viem'
import { canonicalJson } from '../../core/canonicalJson.js'
import { hashTextBy, type Keccak256 } from '../../core/keccak.js'
import type { X402ErrorCode } from './errorCodes.js'

/**
 * Request header that carries a payment. Never log it: it contains the
 * signature.
 */
export const paymentHeader = 'PAYMENT-SIGNATURE'
/** Header of a 402 answer that lists the payment requirements. */
export const requiredHeader = 'PAYMENT-REQUIRED'
/** Header of an answer that says how the payment ended. */
export const responseHeader = 'PAYMENT-RESPONSE'
/** Header of version 1 of x402, which is not supported. */
export const oldPaymentHeader = 'X-PAYMENT'

/**
 * Most characters of a payment header that is signed by a private key. Offers
 * and URLs are refused if they leave no room for it.
 */
export const mostHeaderLength = 8_192

/** Most bytes of a signature: those of smart wallets have several hundred. */
const mostSignature = 1_024

/**
 * Longest payment header that is decoded, in characters: one that a smart
 * wallet signed has the bytes of its longer signature as hex in base64.
 */
export const longestHeader: number =
  mostHeaderLength + Math.ceil(((mostSignature - 65) * 2 * 4) / 3)

/** Encodes a value for x402 headers: base64 of UTF-8 JSON. */
export function encodeHeader(value: object): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/**
 * Decodes the JSON value of a header. Returns `undefined` if it is malformed.
 */
export function decodeHeader(header: string): unknown {
  if (header.length > longestHeader) return undefined
  try {
    const bytes = Uint8Array.from(atob(header), (one) => one.charCodeAt(0))
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The payload of a payment header, or why it is refused. Its inner members are
 * not checked yet.
 */
export type DecodedPayload =
  | { ok: true; payload: PaymentPayload; hash: Hex }
  | { ok: false; code: X402ErrorCode }

/** Decodes the header of a payment and checks its outer form. */
export function decodePaymentHeader(
  header: string,
  keccak256?: Keccak256,
): DecodedPayload {
  return parsePaymentPayload(decodeHeader(header), keccak256)
}

/**
 * Checks the outer form of a payment payload. The inner `payload` is checked
 * later, by {@link toSignedPayment}. `hash` does not depend on the order of
 * members.
 */
export function parsePaymentPayload(
  value: unknown,
  keccak256?: Keccak256,
): DecodedPayload {
  if (!isObject(value) || isDeeper(value, mostLevels))
    return { ok: false, code: 'invalid_payload' }
  if (value.x402Version !== 2)
    return {
      ok: false,
      code:
        typeof value.x402Version === 'number'
          ? 'invalid_x402_version'
          : 'invalid_payload',
    }
  return isPaymentPayload(value)
    ? {
        ok: true,
        payload: value,
        hash: hashTextBy(canonicalJson(value), keccak256),
      }
    : { ok: false, code: 'invalid_payload' }
}

/** Most levels of nested lists and objects in a payload. */
const mostLevels = 64

/**
 * True when lists and objects nest deeper than `levels`. Thousands of levels
 * would overflow the stack of the functions that walk through a payload.
 */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((member) => isDeeper(member, levels - 1))
}

function isPaymentPayload(
  value: Record<string, unknown>,
): value is Record<string, unknown> & PaymentPayload {
  const { accepted, payload, resource, extensions } = value
  return (
    isObject(accepted) &&
    isText(accepted.scheme) &&
    isText(accepted.network) &&
    accepted.network.includes(':') &&
    isText(accepted.asset) &&
    isText(accepted.amount) &&
    isText(accepted.payTo) &&
    Number.isSafeInteger(accepted.maxTimeoutSeconds) &&
    Number(accepted.maxTimeoutSeconds) > 0 &&
    (isObject(accepted.extra) || isNone(accepted.extra)) &&
    isObject(payload) &&
    (isNone(resource) || (isObject(resource) && isText(resource.url))) &&
    (isNone(extensions) || isObject(extensions))
  )
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0

const isNone = (value: unknown): boolean =>
  value === undefined || value === null

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Names of headers whose value must stay secret. */
export const secretHeaders: readonly string[] = [
  paymentHeader.toLowerCase(),
  oldPaymentHeader.toLowerCase(),
  'authorization',
  'cookie',
]

/**
 * Copies headers for a trace or a log. Replaces the value of a secret header,
 * such as a payment, by its length.
 *
 * @example
 * ```ts
 * import { redactHeaders } from 'countersign/x402'
 *
 * export const trace = (request: Request) => redactHeaders(request.headers)
 * ```
 */
export function redactHeaders(headers: Headers): Record<string, string> {
  const shown: Record<string, string> = {}
  headers.forEach((value, name) => {
    shown[name] = secretHeaders.includes(name)
      ? `(${value.length} characters)`
      : value
  })
  return shown
}
