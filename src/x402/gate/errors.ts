import { CountersignError } from '../../core/CountersignError.js'

/**
 * The gate cannot sell: another database takes the payments to one of its
 * recipients, or the recipients of what is asked for were removed.
 */
export class X402SetupError extends CountersignError {
  override readonly name = 'X402SetupError'

  constructor(
    problem: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(`The x402 gate ${problem}.`, { problem, ...details })
  }
}
