import { checkMembers, type MembersOf } from './checkMembers.js'
import { InvalidFieldError } from './errors.js'

/**
 * Checks the answer of the merchant's own function that grants access. Returns
 * `undefined` if the function grants nothing.
 *
 * That function may look up a key in a plain object. If a stranger sends the
 * key `constructor` or `__proto__`, the lookup finds a function or
 * `Object.prototype`. Neither grants access.
 *
 * @throws {@link InvalidFieldError} when the value is neither empty nor a plain
 * object of known members.
 */
export function grantOf<grant>(
  given: grant | undefined,
  known: MembersOf<grant>,
  field: string,
): grant | undefined {
  if (!given || typeof given === 'function' || given === Object.prototype)
    return undefined
  const isPlain =
    typeof given === 'object' &&
    [Object.prototype, null].includes(Object.getPrototypeOf(given))
  if (!isPlain) throw new InvalidFieldError(field, given, 'a plain object')
  checkMembers(given, known, field)
  return given
}
