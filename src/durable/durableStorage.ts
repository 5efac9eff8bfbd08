/** A value of a column in the SQL storage of a Durable Object. */
export type DurableValue = string | number | ArrayBuffer | null

/**
 * What the store uses of `ctx.storage`. The `DurableObjectStorage` of
 * Cloudflare's own types fits.
 */
export type DurableStorage = {
  readonly sql: {
    /** Runs a statement. Throws if the database refuses it. */
    exec(
      query: string,
      ...bindings: (DurableValue | Uint8Array)[]
    ): {
      readonly columnNames: string[]
      /** Rows of tables and indexes that the statement has written so far. */
      readonly rowsWritten: number
      /** Returns all rows that the statement has found. */
      toArray(): Record<string, DurableValue>[]
    }
  }
  /** Runs `closure` as one transaction. Rolls it back if `closure` throws. */
  transactionSync<result>(closure: () => result): result
}
