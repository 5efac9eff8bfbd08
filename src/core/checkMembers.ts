import { InvalidFieldError, shown } from './errors.js'

/**
 * The names of all members that a parameter type has, as an object. The
 * compiler reports a missing name.
 */
export type MembersOf<parameters> = Readonly<
  Record<parameters extends unknown ? keyof parameters : never, unknown>
>

/**
 * Refuses members that the type does not have. Otherwise a misspelt option,
 * such as a limit, would be ignored silently.
 *
 * @throws {@link InvalidFieldError} that names the first unknown member.
 */
export function checkMembers<parameters>(
  given: parameters,
  known: MembersOf<parameters>,
  field = 'parameters',
): void {
  // Ignores a value that is not an object: the caller refuses it when it reads
  // the first member.
  if (typeof given !== 'object' || !given) return
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      throw new InvalidFieldError(
        field,
        shown(name),
        `an object with only the members ${Object.keys(known).join(', ')}`,
      )
}
