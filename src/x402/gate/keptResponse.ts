import { readBytes } from '../../core/readBytes.js'
import { isFramingField } from '../wire/isFramingField.js'
import { markOwn } from './ownAnswers.js'
import type { KeptResponse } from './types.js'

/**
 * Reads a response to store it. Returns `undefined` if it is longer than `most`
 * bytes.
 */
export async function keepResponse(
  response: Response,
  most: number,
): Promise<KeptResponse | undefined> {
  const bytes = await readBytes(response.body, most)
  if (!bytes) return undefined
  const headers = [...response.headers].filter(isKept)
  const { status, statusText } = response
  const reason = statusText === '' ? {} : { statusText }
  return { status, ...reason, headers, body: toBase64(bytes) }
}

/** Builds a response from the form in which answers are stored. */
export function openResponse({
  status,
  statusText = '',
  headers,
  body,
  error,
}: KeptResponse): Response {
  // `null` and not an empty text, to which a server may add a content type.
  // Responses with the statuses below must not have a body at all.
  const isEmpty = body === '' || [101, 204, 205, 304].includes(status)
  const bytes = isEmpty ? null : fromBase64(body)
  // A server adds `Content-Length` to a body of bytes, which is not allowed
  // beside `Transfer-Encoding`.
  const isStream = headers.some(([name]) => name === 'transfer-encoding')
  const response = new Response(isStream ? new Response(bytes).body : bytes, {
    status,
    statusText,
    // Earlier versions have stored some headers that are left out now.
    headers: headers.flatMap(([name, value]): [string, string][] =>
      isKept([name, value]) ? [[name, value]] : [],
    ),
  })
  return error === undefined ? response : markOwn(response, error)
}

/** Builds an answer of the gate itself, in the form in which it is stored. */
export function keepError(status: number, error: string): KeptResponse {
  const bytes = new TextEncoder().encode(JSON.stringify({ error }))
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: toBase64(bytes),
    error,
  }
}

/**
 * Of the framing headers, stores only `transfer-encoding: chunked`: middleware
 * such as Hono's `compress` does not change such an answer.
 */
const isKept = ([name, value]: readonly [string, string]): boolean =>
  !isFramingField(name) || (name === 'transfer-encoding' && value === 'chunked')

/**
 * Encodes bytes as base64. Takes 8192 bytes at a time, because a call with a
 * million arguments overflows the stack.
 */
function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let from = 0; from < bytes.length; from += 8_192)
    pieces.push(String.fromCharCode(...bytes.subarray(from, from + 8_192)))
  return btoa(pieces.join(''))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (one) => one.charCodeAt(0))
}
