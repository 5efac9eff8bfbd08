import { CountersignError } from '../../core/CountersignError.js'

/** A target of webhooks is not one that events may be sent to. */
export class WebhookTargetError extends CountersignError {
  override readonly name = 'WebhookTargetError'

  constructor(facts: {
    field: string
    expected: string
    /** Left out where it may be secret. */
    value?: string | undefined
  }) {
    const { field, expected, value } = facts
    const shown = value === undefined ? 'this' : JSON.stringify(value)
    super(`${field} must be ${expected}, not ${shown}.`, facts)
  }
}

/** The optional peer `standardwebhooks` is not installed. */
export class WebhookPackageNotFoundError extends CountersignError {
  override readonly name = 'WebhookPackageNotFoundError'

  constructor() {
    super('Webhooks need the package standardwebhooks, which is not installed.')
  }
}
