/**
 * Runs work as soon as fewer than the allowed number of other works run, and
 * returns its result.
 */
export type Limit = <result>(work: () => Promise<result>) => Promise<result>

/** Milliseconds after which running work no longer counts toward the limit. */
const longestTurn = 5000

/**
 * Runs at most `most` pieces of work at a time; others wait, first come first
 * served. Work that takes longer than `turn` milliseconds continues but no
 * longer counts, so that hanging work does not stop the rest.
 */
export function limitTo(most: number, turn: number = longestTurn): Limit {
  let running = 0
  const waiting: (() => void)[] = []
  const leave = () => {
    // Pass the slot on directly, so that work which has not waited cannot take
    // it.
    const next = waiting.shift()
    if (next) next()
    else running--
  }
  return async (work) => {
    if (running >= most)
      await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    let isInPlace = true
    const leaveOnce = () => {
      if (isInPlace) leave()
      isInPlace = false
    }
    const timer = setTimeout(leaveOnce, turn)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      leaveOnce()
    }
  }
}
