import type { Limit } from './submitter/driver.js'

/** Milliseconds after which work gives up its place to the next one. */
const longestTurn = 5000

/**
 * Lets at most `most` run at a time; the others wait, first come first served.
 * Work that takes longer than `turn` milliseconds goes on but gives up its
 * place, so that hanging work does not stop the rest.
 */
export function limitTo(most: number, turn: number = longestTurn): Limit {
  let running = 0
  const waiting: (() => void)[] = []
  const leave = () => {
    // Hand the place on directly, so that nobody takes it in between.
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
