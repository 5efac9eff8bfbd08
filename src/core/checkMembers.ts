import { InvalidFieldError } from './errors.js'

/** Lists every member of a parameter type; the compiler rejects gaps. */
export type MembersOf<parameters> = Readonly<
  Record<parameters extends unknown ? keyof parameters : never, unknown>
>

/**
 * Refuses unknown members. A misspelt option would otherwise be ignored, and
 * with it the check it asks for.
 *
 * @throws {@link InvalidFieldError} that names the first such member.
 */
export function checkMembers<parameters>(
  given: parameters,
  known: MembersOf<parameters>,
  field = 'parameters',
): void {
  // The code that reads the first member refuses a value that is no object.
  if (typeof given !== 'object' || !given) return
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      throw new InvalidFieldError(
        field,
        name,
        `an object with only the members ${Object.keys(known).join(', ')}`,
      )
}
