import { ZodVersionError } from './errors.js'

/**
 * Checks that zod is the version that the schemas are written for, by a
 * function that only this version has: zod 3 does not tell its version.
 *
 * @throws {@link ZodVersionError}
 */
export function checkZod(toJSONSchema: unknown): void {
  if (toJSONSchema === undefined) throw new ZodVersionError()
}
