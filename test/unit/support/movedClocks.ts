import { AsyncLocalStorage } from 'node:async_hooks'
import { onTestFinished, vi } from 'vitest'

/** A wall clock that a test moves. It still runs. */
export type MovedClock = {
  /** Milliseconds that it is ahead. */
  ahead: number
}

export const hour = 3_600_000

/**
 * Until the test ends, `Date` shows work that was started in `under` the time of
 * its clock. So each worker of one process can have a wall clock of its own.
 */
export function moveClocks(): {
  under<result>(clock: MovedClock, work: () => result): result
} {
  const clocks = new AsyncLocalStorage<MovedClock>()
  const RealDate = Date
  const now = () => RealDate.now() + (clocks.getStore()?.ahead ?? 0)
  class MovedDate extends RealDate {
    constructor(...given: [] | [string | number | Date]) {
      super(given.length === 0 ? now() : given[0])
    }
    static override now(): number {
      return now()
    }
  }
  vi.stubGlobal('Date', MovedDate)
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  return { under: (clock, work) => clocks.run(clock, work) }
}
