import { nextTurn } from '../../core/wait.js'

/**
 * Limits of reads in a row: number of transactions, and milliseconds. After
 * that, the event loop gets a turn.
 */
const maxUnits = 32
const maxMilliseconds = 25

/**
 * Milliseconds after which a running read no longer counts against the limit.
 */
const longestPlace = 1_000

/** Runs `work` as soon as fewer than the limit are running. */
type Limit = <result>(work: () => Promise<result>) => Promise<result>

/**
 * Lets at most `most` transactions read at a time. The others wait, first come
 * first served.
 *
 * SQLite calls return without giving the event loop a turn. Many reads in a row
 * would stop the server from accepting connections.
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
    // Gives the free slot directly to the one that waits longest, so that a
    // later one cannot take it.
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
    // After a second, a slow read stops counting: it may itself wait for
    // another read, and both would wait forever.
    const timer = setTimeout(leaveOnce, longestPlace)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      leaveOnce()
    }
  }
}
