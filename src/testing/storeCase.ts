import type { PaymentStore } from '../store/types.js'

/** Returns a new, unopened handle to the database under test. */
export type CreateStore = () => PaymentStore | Promise<PaymentStore>

/** One rule that every store must follow. */
export type StoreCase = {
  /** The rule as a sentence, without a full stop. */
  readonly name: string
  /**
   * Runs the case. Rejects when the store breaks the rule, with an error that
   * says what was expected.
   *
   * Calls `createStore` once or several times. Each call must return a handle
   * to the same database. The case opens and closes the handles. For a store in
   * memory, return the same store each time.
   */
  readonly run: (createStore: CreateStore) => Promise<void>
}
