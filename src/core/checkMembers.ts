import { InvalidFieldError, shown } from './errors.js'

type NameOf<parameters> = parameters extends unknown ? keyof parameters : never

/**
 * The names of all members that a parameter type has, as an object. The
 * compiler reports a missing name.
 */
export type MembersOf<parameters> = Readonly<
  Record<NameOf<parameters>, unknown>
>

/**
 * The names if they are complete, or else a type that names the missing one.
 */
type AllOf<parameters, names extends readonly unknown[]> = [
  Exclude<NameOf<parameters>, names[number]>,
] extends [never]
  ? names
  : { lacks: Exclude<NameOf<parameters>, names[number]> }

/**
 * Refuses members that the type does not have. Otherwise a misspelt option,
 * such as a limit, would be ignored silently.
 *
 * @param known the names of all members of the type, or an object that has them;
 * the compiler reports a missing one.
 * @throws {@link InvalidFieldError} that names the first unknown member.
 */
export function checkMembers<
  parameters,
  const names extends readonly NameOf<parameters>[] = [],
>(
  given: parameters,
  known: MembersOf<parameters> | AllOf<parameters, names>,
  field = 'parameters',
): void {
  // Ignores a value that is not an object: the caller refuses it when it reads
  // the first member.
  if (typeof given !== 'object' || !given) return
  const allowed: readonly unknown[] = Array.isArray(known)
    ? known
    : Object.keys(known)
  for (const name of Object.keys(given))
    if (!allowed.includes(name))
      throw new InvalidFieldError(
        field,
        shown(name),
        `an object with only the members ${allowed.join(', ')}`,
      )
}
