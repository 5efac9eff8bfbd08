import { soon } from '../core/wait.js'

export type AdmissionLimits = {
  /** Most requests that are answered at the same time. */
  atOnce: number
  /** Most requests that begin in one turn of the event loop. */
  inTurn: number
}

/**
 * Runs the work of a request. Work begins in the order in which the requests
 * arrived. If `atOnce` requests are already waiting or running, returns
 * `undefined` without running it.
 */
export type Admission = <result>(
  work: () => Promise<result>,
) => Promise<result | undefined>

const usual: AdmissionLimits = { atOnce: 500, inTurn: 2 }

/**
 * Lets at most `atOnce` requests wait or run at the same time, and refuses
 * further ones at once. Accepted requests begin in the order of one queue.
 *
 * Two requests begin in each turn of the event loop, because Node accepts one
 * connection in each turn. When 16 began in a turn, one request in five waited
 * two seconds for its connection on a busy server.
 */
export function openAdmission({
  atOnce,
  inTurn,
}: AdmissionLimits = usual): Admission {
  const waiting: (() => void)[] = []
  let running = 0
  let begun = 0
  // Starts a timer only after `inTurn` requests have begun in this turn. A
  // single request then leaves no timer behind, which would keep the process
  // alive.
  const startTurn = () => {
    const next = waiting.splice(0, inTurn)
    begun = next.length
    if (waiting.length > 0) soon(startTurn)
    for (const begin of next) begin()
  }
  const waitForTurn = async (): Promise<void> => {
    if (begun < inTurn && waiting.length === 0) {
      begun++
      return
    }
    await new Promise<void>((resolve) => {
      if (waiting.push(resolve) === 1) soon(startTurn)
    })
  }
  return async (work) => {
    if (running >= atOnce) return undefined
    running++
    try {
      await waitForTurn()
      return await work()
    } finally {
      running--
    }
  }
}
