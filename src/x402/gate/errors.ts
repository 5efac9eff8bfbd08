import { CountersignError } from '../../core/CountersignError.js'

/** A gate cannot start with what it was given. */
export class X402SetupError extends CountersignError {
  override readonly name = 'X402SetupError'

  constructor(
    problem: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(`The x402 gate ${problem}.`, { problem, ...details })
  }
}
