import { CountersignError } from '../core/CountersignError.js'

/** The store cannot start, or cannot read or write. */
export class StoreError extends CountersignError {
  override readonly name = 'StoreError'
  override readonly retryable: boolean

  constructor(problem: string, retryable = false) {
    super(`The store ${problem}.`, { problem })
    this.retryable = retryable === true
  }
}

/** A row with the same identity exists already. */
export class DuplicateRecordError extends CountersignError {
  override readonly name = 'DuplicateRecordError'

  constructor(facts: { table: string; key?: string | undefined }) {
    super(`A row of ${facts.table} exists already.`, facts)
  }
}

/** Someone else changed a row after it was read. */
export class StaleRecordError extends CountersignError {
  override readonly name = 'StaleRecordError'
  override readonly retryable = true

  constructor(facts: { table: string }) {
    super(`A row of ${facts.table} was changed after it was read.`, facts)
  }
}

/** The lease of a write was released, or someone else holds it. */
export class LeaseLostError extends CountersignError {
  override readonly name = 'LeaseLostError'
  override readonly retryable = true

  constructor(facts: { key: string }) {
    super(
      `The lease ${facts.key} was released or taken by someone else.`,
      facts,
    )
  }
}

/** A secret cannot be sealed or opened. */
export class SealError extends CountersignError {
  override readonly name = 'SealError'

  constructor(problem: string, details: { key?: string | undefined } = {}) {
    super(`The secret ${problem}.`, { problem, ...details })
  }
}
