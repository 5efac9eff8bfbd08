import { WebhookTargetError } from './errors.js'
import type { CheckedTarget } from './types.js'

/** What there is to be told of; a test holds it against the type. */
const known =
  'drafted accepted captureRequested capturing preconfirmed captureRejected ' +
  'reopened captured voided cancelRequested canceling cancelRejected canceled ' +
  'expired consumed reauthorized finalityRaised fulfil reorged deadlineNear refundDue ' +
  'overpaid lossAfterFulfilment needsReview submitterShared unmatched storeReplaced'

/**
 * Which events a target takes: a name that is misspelt would never come.
 *
 * @throws {@link WebhookTargetError}
 */
export function readTypes(
  given: unknown,
  field: string,
): CheckedTarget['types'] {
  // A type that a newer version writes must not be left out by an older one.
  if (given === undefined) return undefined
  if (!Array.isArray(given) || given.length === 0)
    throw new WebhookTargetError(field, 'at least one event')
  const names: unknown[] = known.split(' ')
  return given.map((type: unknown, index) => {
    if (names.includes(type)) return type
    throw new WebhookTargetError(`${field}[${index}]`, 'the name of an event', {
      value: type,
    })
  })
}
