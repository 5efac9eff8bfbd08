import { InvalidFieldError } from './errors.js'

/** Lists every member of a parameter type; the compiler rejects gaps. */
export type MembersOf<parameters> = Readonly<
  Record<parameters extends unknown ? keyof parameters : never, unknown>
>

/**
 * Refuses unknown members. Otherwise we would ignore a misspelt option and the
 * check that it requests.
 *
 * @throws {@link InvalidFieldError} that names the first such member.
 */
export function checkMembers<parameters>(
  given: parameters,
  known: MembersOf<parameters>,
  field = 'parameters',
): void {
  // Other code refuses a value that is not an object, when it reads the first
  // member.
  if (typeof given !== 'object' || !given) return
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      throw new InvalidFieldError(
        field,
        name,
        `an object with only the members ${Object.keys(known).join(', ')}`,
      )
}
