import { StoreError } from '../store/errors.js'
import { type SeenRows, seenRows } from './tables/seenRows.js'
import { mayRunAgain } from './tables/sqlFault.js'

/** Tracks the statements of one transaction of the store. */
export type SqlUnit = {
  /** True once the transaction has written a row. */
  changed: boolean
  /** True once the transaction has appended an event. */
  appended: boolean
  /**
   * Rows that the transaction read or wrote, as they will be after the commit.
   */
  readonly seen: SeenRows
  run<result>(request: () => Promise<result>): Promise<result>
  /**
   * Waits for statements that the caller did not await. Refuses later ones,
   * which would run outside the transaction.
   */
  end(): Promise<void>
  /** The error of the first failed statement, even if the caller caught it. */
  readonly failure: unknown
}

export function startSqlUnit(before: SeenRows): SqlUnit {
  const running = new Set<Promise<unknown>>()
  const failures: unknown[] = []
  let isOver = false
  return {
    changed: false,
    appended: false,
    seen: seenRows(before),
    run: async (request) => {
      if (isOver)
        throw new StoreError('was used after its unit of work had ended')
      const answer = request().catch((error: unknown) => {
        failures.push(error)
        throw error
      })
      running.add(answer)
      return answer.finally(() => running.delete(answer))
    },
    end: async () => {
      isOver = true
      await Promise.allSettled(running)
    },
    get failure() {
      // Returns an error that allows the transaction to run again, if there is
      // one: the other errors may only be its consequences.
      return failures.find(mayRunAgain) ?? failures[0]
    },
  }
}
