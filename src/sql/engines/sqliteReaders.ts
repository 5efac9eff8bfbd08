import { nextTurn } from '../../core/wait.js'

/**
 * Limits of reads in a row, after which the event loop gets a turn: units of
 * work, and milliseconds.
 */
const maxUnits = 32
const maxMilliseconds = 25

/** Milliseconds after which a running unit of work gives up its slot. */
const longestPlace = 1_000

/** Runs work as soon as a slot is free. */
type Limit = <result>(work: () => Promise<result>) => Promise<result>

/**
 * Lets at most `most` units of work read at a time; the others wait, first come
 * first served.
 *
 * SQLite answers at once, so readers in a row would otherwise never let the
 * event loop accept a connection.
 */
export function limitReaders(most: number): Limit {
  const waiting: (() => void)[] = []
  let running = 0
  let units = 0
  let began = 0
  const startStretch = () => {
    units = 0
    began = performance.now()
  }
  const isOver = () =>
    units >= maxUnits || performance.now() - began > maxMilliseconds
  const leave = async (): Promise<void> => {
    units++
    if (waiting.length > 0 && isOver()) {
      await nextTurn()
      startStretch()
    }
    // Hand the slot directly to the next unit, so that no later one takes it.
    const next = waiting.shift()
    if (next) next()
    else running--
  }
  return async (work) => {
    if (running >= most)
      await new Promise<void>((resolve) => waiting.push(resolve))
    else if (running++ === 0) startStretch()
    let isInPlace = true
    const leaveOnce = () => {
      if (isInPlace) void leave()
      isInPlace = false
    }
    // A unit that itself waits for other readers must not block them.
    const timer = setTimeout(leaveOnce, longestPlace)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      leaveOnce()
    }
  }
}
