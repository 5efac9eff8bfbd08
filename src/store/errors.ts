import { CountersignError } from '../core/CountersignError.js'

/** The store cannot start, or cannot keep what it is told. */
export class StoreError extends CountersignError {
  override readonly name = 'StoreError'
  override readonly retryable: boolean

  constructor(problem: string, retryable = false) {
    super(`The store ${problem}.`, { problem })
    this.retryable = retryable === true
  }
}

/** A row with the same identity is there already. */
export class DuplicateRecordError extends CountersignError {
  override readonly name = 'DuplicateRecordError'

  constructor(facts: { table: string; key?: string | undefined }) {
    super(`A row of ${facts.table} is there already.`, facts)
  }
}

/** A row was written by someone else between reading and writing it. */
export class StaleRecordError extends CountersignError {
  override readonly name = 'StaleRecordError'
  override readonly retryable = true

  constructor(facts: { table: string }) {
    super(`A row of ${facts.table} was written in between.`, facts)
  }
}

/** Someone else holds the lease this was to be written under. */
export class LeaseLostError extends CountersignError {
  override readonly name = 'LeaseLostError'
  override readonly retryable = true

  constructor(facts: { key: string }) {
    super(`The lease ${facts.key} is held by someone else.`, facts)
  }
}

/** A sealed secret cannot be opened, or cannot be sealed. */
export class SealError extends CountersignError {
  override readonly name = 'SealError'

  constructor(problem: string, details: { key?: string | undefined } = {}) {
    super(`The secret ${problem}.`, { problem, ...details })
  }
}
