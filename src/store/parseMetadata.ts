import { stringToBytes } from 'viem'
import { isPlainObject } from '../core/canonicalJson.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import type { JsonObject } from './types.js'

const mostBytes = 8_192
const deepest = 16

/**
 * Returns a JSON copy of the metadata of an order.
 *
 * @throws {@link InvalidFieldError} when it is not plain JSON, or longer than 8
 * kB.
 */
export function parseMetadata(value: unknown = {}): JsonObject {
  if (!isPlainObject(value) || !isJson(value, deepest))
    throw new InvalidFieldError('metadata', value, 'an object of plain JSON')
  const text = JSON.stringify(value)
  const { length } = stringToBytes(text)
  if (length > mostBytes)
    throw new InvalidFieldError(
      'metadata',
      shown(length),
      `at most ${mostBytes} bytes of JSON`,
    )
  return JSON.parse(text)
}

function isJson(value: unknown, levels: number): boolean {
  if (levels < 0) return false
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return isText(value)
  if (Array.isArray(value))
    return value.every((member) => isJson(member, levels - 1))
  return (
    isPlainObject(value) &&
    Object.entries(value).every(
      ([name, member]) => isText(name) && isJson(member, levels - 1),
    )
  )
}

/**
 * True when databases can store the text: it has no NUL character and no lone
 * surrogate.
 */
function isText(text: string): boolean {
  return !text.includes('\0') && !/\p{Cs}/u.test(text)
}
