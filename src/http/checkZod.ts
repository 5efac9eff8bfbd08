import { ZodVersionError } from './errors.js'

/**
 * Checks that the installed zod is version 4, which the schemas are written
 * for. zod 3 exports no version, so the check is for `toJSONSchema`, a function
 * that zod 3 does not have.
 *
 * @throws {@link ZodVersionError}
 */
export function checkZod(toJSONSchema: unknown): void {
  if (toJSONSchema === undefined) throw new ZodVersionError()
}
