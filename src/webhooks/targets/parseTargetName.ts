import { WebhookTargetError } from './errors.js'

/**
 * The name of a target, as it stands in the database.
 *
 * @throws {@link WebhookTargetError}
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
