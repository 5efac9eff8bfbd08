import { InvalidFieldError, shown } from './errors.js'

/** Lists every member of a parameter type; the compiler rejects gaps. */
export type MembersOf<parameters> = Readonly<
  Record<parameters extends unknown ? keyof parameters : never, unknown>
>

/**
 * Refuses unknown members. Otherwise a misspelt option, such as a limit, would
 * be ignored.
 *
 * @throws {@link InvalidFieldError} that names the first unknown member.
 */
export function checkMembers<parameters>(
  given: parameters,
  known: MembersOf<parameters>,
  field = 'parameters',
): void {
  // The caller refuses a value that is not an object when it reads a member.
  if (typeof given !== 'object' || !given) return
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      throw new InvalidFieldError(
        field,
        shown(name),
        `an object with only the members ${Object.keys(known).join(', ')}`,
      )
}
