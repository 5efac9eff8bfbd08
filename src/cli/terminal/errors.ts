import { CountersignError } from '../../core/CountersignError.js'

/** A command was called with wrong arguments. */
export class UsageError extends CountersignError {
  override readonly name = 'UsageError'

  constructor(problem: string) {
    super(problem)
  }
}

/**
 * The configuration file is missing, fails to load, or does not export the
 * parameters of `createOrders`.
 */
export class ConfigError extends CountersignError {
  override readonly name = 'ConfigError'

  constructor(problem: string) {
    super(problem)
  }
}
