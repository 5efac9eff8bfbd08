import { StoreError } from '../store/errors.js'
import { type SeenRows, seenRows } from './tables/seenRows.js'
import { mayRunAgain } from './tables/sqlFault.js'

/** Tracks the statements of one unit of work. */
export type SqlUnit = {
  /** True once rows were written. */
  changed: boolean
  /** True once events were appended. */
  appended: boolean
  /** Rows that the unit read or wrote, as they will be after the commit. */
  readonly seen: SeenRows
  run<result>(request: () => Promise<result>): Promise<result>
  /**
   * Waits for requests that the work did not await. Refuses later ones, which
   * would run outside the transaction.
   */
  end(): Promise<void>
  /** The error of the first failed request, even if the work caught it. */
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
      // Prefers a fault after which the work may run again: the other errors
      // may be consequences of that fault.
      return failures.find(mayRunAgain) ?? failures[0]
    },
  }
}
