import { CountersignError } from '../../core/CountersignError.js'

/** A field of a webhook target is invalid. */
export class WebhookTargetError extends CountersignError {
  override readonly name = 'WebhookTargetError'

  /** `given` is quoted in the message: leave it out if it may be a secret. */
  constructor(field: string, expected: string, given?: { value: unknown }) {
    const value = given && String(given.value).slice(0, 64)
    const shown = given ? `, not ${JSON.stringify(value)}` : ''
    super(`${field} must be ${expected}${shown}.`, {
      field,
      expected,
      ...(given && { value }),
    })
  }
}

/** The optional peer `standardwebhooks` is not installed, or too old. */
export class WebhookPackageNotFoundError extends CountersignError {
  override readonly name = 'WebhookPackageNotFoundError'

  constructor(problem: string) {
    super(`Delivering webhooks ${problem}.`, { problem })
  }
}
