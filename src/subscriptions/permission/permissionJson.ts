import type { JsonObject } from '../../store/types.js'
import { parseSpendPermission } from './parseSpendPermission.js'
import type { SpendPermission } from './types.js'

/** Turns a permission into plain JSON: integers become decimal strings. */
export function encodePermission({
  primaryType,
  domain,
  message,
}: SpendPermission): JsonObject {
  return {
    primaryType,
    domain: { ...domain },
    message: {
      ...message,
      allowance: String(message.allowance),
      period: String(message.period),
      start: String(message.start),
      end: String(message.end),
      salt: String(message.salt),
    },
  }
}

/**
 * Decodes a permission from the store.
 *
 * @throws {@link InvalidFieldError} when it is malformed.
 */
export function decodePermission(stored: JsonObject): SpendPermission {
  const { message } = stored
  const given: Record<string, unknown> = { ...Object(message) }
  for (const name of ['allowance', 'period', 'start', 'end', 'salt']) {
    const text = String(given[name])
    // `parseSpendPermission` names what is no integer.
    if (/^\d+$/.test(text)) given[name] = BigInt(text)
  }
  return parseSpendPermission({ ...stored, message: given })
}
