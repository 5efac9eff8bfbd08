import { CountersignError } from '../../core/CountersignError.js'

/** A target of webhooks is not one that events may be sent to. */
export class WebhookTargetError extends CountersignError {
  override readonly name = 'WebhookTargetError'

  /** Without `given` where that may be secret. */
  constructor(field: string, expected: string, given?: { value: unknown }) {
    const value = given && String(given.value).slice(0, 64)
    const shown = given ? JSON.stringify(value) : 'this'
    super(`${field} must be ${expected}, not ${shown}.`, {
      field,
      expected,
      ...(given && { value }),
    })
  }
}

/** The optional peer `standardwebhooks` is not installed. */
export class WebhookPackageNotFoundError extends CountersignError {
  override readonly name = 'WebhookPackageNotFoundError'

  constructor() {
    super('Webhooks need the package standardwebhooks, which is not installed.')
  }
}
