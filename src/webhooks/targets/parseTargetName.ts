import { WebhookTargetError } from './errors.js'

/**
 * Parses the name of a target.
 *
 * @throws {@link WebhookTargetError} when it is not a valid name.
 */
export function parseTargetName(given: unknown, field: string): string {
  if (typeof given !== 'string' || !/^[\w.-]{1,64}$/.test(given))
    throw new WebhookTargetError(
      field,
      '1 to 64 letters, digits, dots, dashes or underscores',
      { value: given },
    )
  return given
}
