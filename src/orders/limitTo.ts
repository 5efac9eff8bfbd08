import type { Limit } from '../drive/driveLanes.js'

/** Milliseconds after which work counts as waiting for someone who hangs. */
const longestTurn = 5000

/**
 * Lets so many run at a time; the others wait for their turn, in the order in
 * which they came. Work that takes longer than a turn goes on, and gives its
 * place to the next one: a few that hang stop nobody else.
 */
export function limitTo(most: number, turn: number = longestTurn): Limit {
  let running = 0
  const waiting: (() => void)[] = []
  const leave = () => {
    // The place is handed on, so that nobody takes it in between.
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
