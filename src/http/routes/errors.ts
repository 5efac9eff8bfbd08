import { CountersignError } from '../../core/CountersignError.js'
import type { ProblemReason } from '../schemas/problemTable.js'

/** What a problem response says beside its reason. */
export type ProblemFacts = {
  /** HTTP status, if it is not the reason's usual one. */
  status?: number | undefined
  /** The wrong member of the body or the query. */
  field?: string | undefined
  /** One sentence that replaces the reason's own text. Never a secret. */
  detail?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Thrown to answer a request with a problem response, which the handler builds
 * from it.
 */
export class RequestRefusedError extends CountersignError {
  override readonly name = 'RequestRefusedError'
  readonly reason: ProblemReason
  readonly facts: ProblemFacts

  constructor(reason: ProblemReason, facts: ProblemFacts = {}) {
    super(`The request was refused: ${reason}.`, { reason })
    this.reason = reason
    this.facts = facts
  }
}
