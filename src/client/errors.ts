import { CountersignError } from '../core/CountersignError.js'
import type { ProblemReason } from '../http/schemas/problemTable.js'

type ProblemFacts = {
  reason: string
  status: number
  /** The server's sentence about the problem, if the answer has one. */
  detail: unknown
  field: string | undefined
  /** Milliseconds after which the same request may succeed. */
  retryAfter: number | undefined
}

/**
 * The server refused the request. `reason` is a code for programs; the message
 * is the server's own sentence, for people.
 */
export class ProblemError extends CountersignError {
  override readonly name = 'ProblemError'
  /**
   * True when the server says after which time the same request may succeed.
   */
  override readonly retryable: boolean
  /**
   * Code of the problem. A newer server may send codes that are not in this
   * type.
   */
  readonly reason: ProblemReason | (string & Record<never, never>)
  /** HTTP status. */
  readonly status: number
  /** The wrong field of the request, if one is wrong. */
  readonly field: string | undefined
  /**
   * Milliseconds after which the same request may succeed, if the server says
   * so.
   */
  readonly retryAfter: number | undefined

  constructor({ reason, status, detail, field, retryAfter }: ProblemFacts) {
    super(
      typeof detail === 'string'
        ? detail
        : `The request was refused: ${reason}.`,
      { reason, status, field },
    )
    this.reason = reason
    this.status = status
    this.field = field
    this.retryAfter = retryAfter
    this.retryable = retryAfter !== undefined
  }
}

type ServerFacts = {
  /** Method and address of the request. */
  request: string
  status?: number | undefined
  /** Milliseconds after which to try again, if the answer says so. */
  retryAfter?: number | undefined
  /** Error code of the runtime, such as `ECONNREFUSED`. */
  code?: string | undefined
}

/**
 * The server gave no answer, or the answer is not from `countersign/http`, for
 * example the error page of a proxy.
 */
export class ServerError extends CountersignError {
  override readonly name = 'ServerError'
  /**
   * True if there was no answer, or the status is 429, 502, 503 or 504: the
   * same request may succeed later.
   */
  override readonly retryable: boolean
  /** HTTP status of the answer; absent without an answer. */
  readonly status: number | undefined
  /** Milliseconds after which to try again, if the answer says so. */
  readonly retryAfter: number | undefined

  constructor({ request, status, retryAfter, code }: ServerFacts) {
    super(
      status === undefined
        ? `${request} got no answer.`
        : `${request} got status ${status}, not from countersign/http.`,
      { request, status, code },
    )
    this.status = status
    this.retryAfter = retryAfter
    this.retryable =
      status === undefined || [429, 502, 503, 504].includes(status)
  }
}
