import { stringToBytes } from 'viem'
import { isPlainObject } from '../core/canonicalJson.js'
import { InvalidFieldError, shorten, shown } from '../core/errors.js'
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
  if (!isPlainObject(value)) refuseValue(value, 'of plain JSON')
  checkJson(value)
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

/** Refuses the first value that is not JSON by its place in the metadata. */
function checkJson(value: unknown, place = '', level = 0): void {
  if (level > deepest) refuse(shown(level), `of at most ${deepest} levels`)
  if (value === null || typeof value === 'boolean') return
  if (typeof value === 'string') checkText(value, `whose ${place} is`)
  else if (typeof value === 'number') {
    if (!Number.isFinite(value))
      refuse(shown(value), `whose ${place} is a finite number`)
  } else if (Array.isArray(value))
    for (const [index, member] of value.entries())
      checkJson(member, `${place}[${index}]`, level + 1)
  else if (isPlainObject(value))
    for (const [name, member] of Object.entries(value)) {
      checkText(name, 'whose names are')
      const known = shorten(name)
      checkJson(member, place ? `${place}.${known}` : known, level + 1)
    }
  else refuseValue(value, `whose ${place} is plain JSON`)
}

/** Databases cannot store NUL characters and lone surrogates. */
function checkText(text: string, start: string): void {
  const [wrong] = /[\0\p{Cs}]/u.exec(text) ?? []
  if (wrong)
    refuse(shown(wrong), `${start} text without NUL and lone surrogates`)
}

function refuseValue(value: unknown, rule: string): never {
  const isObject = Object(value) === value && !Array.isArray(value)
  refuse(
    value,
    rule,
    isObject ? 'Convert functions and instances of classes first.' : undefined,
  )
}

function refuse(given: unknown, rule: string, toDo?: string): never {
  throw new InvalidFieldError('metadata', given, `an object ${rule}`, toDo)
}
