import { CountersignError } from '../../core/CountersignError.js'
import type { ProblemReason } from '../schemas/problemTable.js'

/** The members of a problem beside its reason. */
export type ProblemFacts = {
  /** Status, where it is another than the reason's usual one. */
  status?: number | undefined
  /** Member of the body or the query that is at fault. */
  field?: string | undefined
  /** One sentence, in place of the reason's own; never a secret. */
  detail?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

/** A request is answered with a problem. Never leaves the handler. */
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
