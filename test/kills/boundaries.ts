import { writeSync } from 'node:fs'
import process from 'node:process'
import type { Kill } from './plan.js'

/** What a process has to pass: each point can end it, before or after. */
export type Boundaries = {
  /**
   * Passes a boundary: dies before the call leaves, or after it took effect and
   * before its answer is seen, where that is the plan.
   */
  pass<result>(name: string, call: () => Promise<result>): Promise<result>
  /** Arrives at a boundary whose name was not known before. */
  reach(name: string): string
  /** Has the answer of the point that was reached, and did not look at it. */
  leave(point: string): void
  /** The points passed, in their order. */
  passed: readonly string[]
}

/** Repeats beyond that are polls: how many there are depends on the clock. */
const countedOf = (name: string): number => (poll.test(name) ? 1 : 2)

/** A lease that is prolonged, and a look at an account. */
const poll = /^takeLease|eth_getTransactionCount/

export function createBoundaries(kill: Kill | undefined): Boundaries {
  const counts = new Map<string, number>()
  const passed: string[] = []

  const reach = (name: string): string => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    const point = `${name}#${count}`
    if (count <= countedOf(name)) passed.push(point)
    dieAt(kill, point, 'before')
    return point
  }
  const leave = (point: string): void => dieAt(kill, point, 'after')
  return {
    pass: async (name, call) => {
      const point = reach(name)
      try {
        return await call()
      } finally {
        leave(point)
      }
    },
    reach,
    leave,
    passed,
  }
}

function dieAt(
  kill: Kill | undefined,
  point: string,
  when: 'before' | 'after',
): void {
  if (!kill || !('point' in kill)) return
  if (kill.point === point && kill.when === when) die(`${when} ${point}`)
}

/** Ends this process at once; nothing is finished, closed or flushed. */
export function die(where: string): void {
  writeSync(1, `${where}\n`)
  process.kill(process.pid, 'SIGKILL')
}
