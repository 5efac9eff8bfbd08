import { InvalidFieldError } from './errors.js'

/** A table with each member of a parameter type: the compiler finds a missing one. */
export type MembersOf<parameters> = Readonly<
  Record<parameters extends unknown ? keyof parameters : never, unknown>
>

/**
 * Refuses an object with members that nobody reads: a misspelt one is a check
 * that never happens.
 *
 * @throws {@link InvalidFieldError} that names the first such member.
 */
export function checkMembers<parameters>(
  given: parameters,
  known: MembersOf<parameters>,
  field = 'parameters',
): void {
  // A value that is no object is refused by the reader of its first member.
  if (typeof given !== 'object' || !given) return
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      throw new InvalidFieldError(
        field,
        name,
        `an object of only ${Object.keys(known).join(', ')}`,
      )
}
