import { CountersignError } from '../../core/CountersignError.js'
import type { ProblemReason } from '../schemas/problemTable.js'

/** Facts that a problem response adds to its reason. */
export type ProblemFacts = {
  /** HTTP status, if it is not the reason's usual one. */
  status?: number | undefined
  /** Name of the wrong field in the body or the query. */
  field?: string | undefined
  /** One sentence that replaces the reason's own text. Never a secret. */
  detail?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

/** Thrown to refuse a request. The handler turns it into a problem response. */
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
