import { StoreError } from '../store/errors.js'
import { type SeenRows, seenRows } from './tables/seenRows.js'
import { mayRunAgain } from './tables/sqlFault.js'

/** Watches over what one unit of work asks of the database. */
export type SqlUnit = {
  /** Whether rows were written. */
  changed: boolean
  /** Rows it read or wrote, as they are once it is durable. */
  readonly seen: SeenRows
  /** Runs one request of the work. */
  run<result>(request: () => Promise<result>): Promise<result>
  /**
   * Waits for requests the work left alone, and refuses later ones: they would
   * run outside of its transaction.
   */
  end(): Promise<void>
  /** The first refusal, whether the work caught it or not. */
  readonly failure: unknown
}

export function startSqlUnit(before: SeenRows): SqlUnit {
  const running = new Set<Promise<unknown>>()
  const failures: unknown[] = []
  let isOver = false
  return {
    changed: false,
    seen: seenRows(before),
    run: async (request) => {
      if (isOver)
        throw new StoreError('was asked after the unit of work had ended')
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
      // A refusal may follow from another one; whether to run again does not.
      return failures.find(mayRunAgain) ?? failures[0]
    },
  }
}
