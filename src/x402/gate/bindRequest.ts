import type { Hex } from 'viem'
import { canonicalJson } from '../../core/canonicalJson.js'
import { hashTextBy, type Keccak256 } from '../../core/keccak.js'
import { readBytes } from '../../core/readBytes.js'
import { splitForm } from './splitForm.js'

/**
 * Everything that a payment is bound to. If a later request with the same
 * payment differs in any of these, it is refused.
 */
export type Binding = {
  offer: string
  method: string
  resource: string
  /** One of the digests of the request's body. */
  body: string
  /** Hash of the payment payload, with its signature. */
  payload: Hex
}

/**
 * Hashes everything that a payment is bound to, so that later requests can be
 * compared with it.
 */
export function hashBinding(binding: Binding, keccak256?: Keccak256): Hex {
  return hashTextBy(canonicalJson(binding), keccak256)
}

/** Digests of the body of a request. */
export type BodyDigest = {
  /** What new payments are bound to. */
  body: string
  /** SHA-256 of the bytes. */
  bytes: Hex
}

/**
 * Digests the body of a request. Of a form, the parts count and not the
 * boundary between them, because clients draw a new one whenever they send the
 * form again. Reads a copy, so the handler can still read the body. `undefined`
 * when the body is longer than `most` bytes.
 */
export async function digestBody(
  request: Request,
  most: number,
): Promise<BodyDigest | undefined> {
  if (Number(request.headers.get('content-length')) > most) return undefined
  const read = await readBytes(request.body && request.clone().body, most)
  if (!read) return undefined
  const bytes = await digest(read)
  const parts = splitForm(request.headers.get('content-type') ?? '', read)
  if (!parts) return { body: bytes, bytes }
  const digests = await Promise.all(parts.map(digest))
  return { body: `form:${digests.join()}`, bytes }
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<Hex> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const digits = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0'))
  return `0x${digits.join('')}`
}
