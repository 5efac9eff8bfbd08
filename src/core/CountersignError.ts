import { toJson } from './toJson.js'

/** Facts about an error, safe to log: never a signature or a raw transaction. */
export type ErrorDetails = Readonly<Record<string, unknown>>

/**
 * The base of every error this library throws.
 *
 * `name` is a literal in each class, so it survives minification.
 */
export abstract class CountersignError extends Error {
  abstract override readonly name: string
  /** Whether the same call may succeed later without a change of its input. */
  readonly retryable: boolean = false
  readonly details: ErrorDetails

  constructor(message: string, details: ErrorDetails = {}) {
    super(message)
    this.details = details
  }

  /** For logs: with the message, and each `bigint` as a decimal string. */
  toJSON(): object {
    // The message is no member that spreading would find.
    return JSON.parse(toJson({ message: this.message, ...(this as object) }))
  }
}
