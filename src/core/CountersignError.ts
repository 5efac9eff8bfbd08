import { toJson } from './toJson.js'

/** Facts about an error, safe to log: never a signature or a raw transaction. */
type ErrorDetails = Readonly<Record<string, unknown>>

/**
 * The base of every error this library throws.
 *
 * `name` is a literal in each class, so it survives minification.
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
   * Returns the error for logs, with its message, and each `bigint` as a
   * decimal string.
   */
  toJSON(): object {
    // Spreading an error leaves out its message.
    return JSON.parse(toJson({ message: this.message, ...(this as object) }))
  }
}
