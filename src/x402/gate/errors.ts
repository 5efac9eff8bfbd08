import { CountersignError } from '../../core/CountersignError.js'

/**
 * The gate cannot start, because another database takes the payments to one of
 * its recipients.
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
