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
    super(`The table ${facts.table} already has this row.`, facts)
  }
}

/**
 * Another transaction of the store changed a row after this one had read it.
 */
export class StaleRecordError extends CountersignError {
  override readonly name = 'StaleRecordError'
  override readonly retryable = true

  constructor(facts: { table: string }) {
    super(
      `A row of the table ${facts.table} was changed after it was read.`,
      facts,
    )
  }
}

/**
 * A write depends on a lease that was released, or that another process holds.
 */
export class LeaseLostError extends CountersignError {
  override readonly name = 'LeaseLostError'
  override readonly retryable = true

  constructor(facts: { key: string }) {
    super(
      `The lease ${facts.key} was released, or another process took it.`,
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

/** The sealer failed, or did not answer within `policy.sealTimeout`. */
export class SealerUnavailableError extends CountersignError {
  override readonly name = 'SealerUnavailableError'
  override readonly retryable = true

  constructor(problem: string) {
    super(`The sealer ${problem}.`, { problem })
  }
}
