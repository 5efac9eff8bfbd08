import { CountersignError } from '../../core/CountersignError.js'

/** Wrong arguments of a command. */
export class UsageError extends CountersignError {
  override readonly name = 'UsageError'

  constructor(problem: string) {
    super(problem)
  }
}

/** The configuration is missing, does not load, or exports something else. */
export class ConfigError extends CountersignError {
  override readonly name = 'ConfigError'

  constructor(problem: string) {
    super(problem)
  }
}
