import { toJson } from './toJson.js'

/**
 * Facts about an error that are safe to log. Never contains a signature or a
 * raw transaction.
 */
type ErrorDetails = Readonly<Record<string, unknown>>

/**
 * The base class of every error that this library throws.
 *
 * `name` is a literal in each class, so that a bundler that renames classes
 * does not change it.
 */
export abstract class CountersignError extends Error {
  abstract override readonly name: string
  /** True when the same call may succeed later with the same input. */
  readonly retryable: boolean = false
  readonly details: ErrorDetails

  constructor(message: string, details: ErrorDetails = {}) {
    super(message)
    this.details = details
  }

  /**
   * Returns the error as plain JSON for logs, with its message. Each `bigint`
   * becomes a decimal string.
   */
  toJSON(): object {
    // Adds the message by hand: spreading an error leaves it out.
    return JSON.parse(toJson({ message: this.message, ...(this as object) }))
  }
}
