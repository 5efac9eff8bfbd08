import { onAbort } from './onAbort.js'
import { wait } from './wait.js'

/** The work that a loop repeats. All times are in milliseconds. */
export type LoopWork = {
  /**
   * Does the work that is due, once. Returns the milliseconds until the next
   * call.
   */
  look(): Promise<number>
  /**
   * Called when `look` failed. Returns the milliseconds until the next try. If
   * it throws, the loop ends and `ended` rejects.
   *
   * @param failures number of failures in a row, this one included.
   */
  failed(error: unknown, failures: number): number | Promise<number>
  /**
   * Publishes the state of the loop for other processes. Called after each
   * `look`, also after a failed one. A failure of `tell` is ignored until the
   * next `look`.
   */
  tell?: (() => Promise<void>) | undefined
  /**
   * Called when `wake` interrupts a pause. Returns the milliseconds until the
   * next `look`; can only shorten the pause.
   * @default 0
   */
  woken?: (() => Promise<number>) | undefined
  /** Returns true if the loop should end before its signal aborts. */
  isOver?: (() => boolean) | undefined
  /**
   * Runs `look` once fewer loops than allowed are at work. Used where loops
   * share a limit.
   */
  limit?: (<result>(look: () => Promise<result>) => Promise<result>) | undefined
  /**
   * A lease to prolong during a long pause, each time `every` milliseconds have
   * passed.
   */
  lease?: { every: number; prolong(): Promise<void> } | undefined
  /**
   * Waits between two calls of `look`.
   * @default `wait`, which keeps the process alive
   */
  sleep?:
    | ((milliseconds: number, signal: AbortSignal) => Promise<void>)
    | undefined
}

/** A running loop that repeats some work. */
export type Loop = {
  /**
   * Ends the current pause early. Without a pause, the next one is ended at
   * once.
   */
  wake(): void
  /** `performance.now()` of the next look; 0 while the loop looks. */
  nextLook(): number
  /** Resolves once the loop has stopped, after its last `look` has returned. */
  ended: Promise<void>
}

/** The longest time of a JavaScript timer, in milliseconds. */
const longestTimer = 2 ** 31 - 1

const never = Number.POSITIVE_INFINITY

/**
 * Calls `work.look` again and again, with the pauses that it asks for, until
 * the signal aborts.
 */
export function startLoop(work: LoopWork, signal: AbortSignal): Loop {
  const {
    limit = (look) => look(),
    woken = async () => 0,
    sleep = wait,
    lease = { every: never, prolong: async () => undefined },
  } = work
  let isWoken = false
  let nextLook = 0
  let alarm = new AbortController()
  const wake = () => {
    isWoken = true
    nextLook = 0
    alarm.abort()
  }
  const isOver = () => signal.aborted || work.isOver?.() === true
  // Checks again before the work, because the loop may have been stopped while
  // it waited for its turn.
  const look = () => limit(async () => (isOver() ? 0 : work.look()))
  const sleepUntil = async (time: number) => {
    alarm = new AbortController()
    if (isWoken) return
    await sleep(Math.min(time - performance.now(), longestTimer), alarm.signal)
  }
  const pause = async (milliseconds: number, isFailed: boolean) => {
    let until = performance.now() + milliseconds
    // Prolongs the lease only in long pauses. Before a short one, the next
    // `look` prolongs it soon enough. After a failure, another process should
    // be able to take it.
    const isKept = !isFailed && milliseconds >= 2 * lease.every
    let prolongAt = isKept ? performance.now() + lease.every : never
    while (!isOver() && performance.now() < until) {
      nextLook = isWoken ? 0 : until
      await sleepUntil(Math.min(until, prolongAt))
      if (isOver()) return
      if (performance.now() >= prolongAt) {
        // Ignores a failure: the next `look` fails too and reports it.
        await lease.prolong().catch(() => undefined)
        prolongAt = performance.now() + lease.every
      }
      if (!isWoken) continue
      isWoken = false
      // If `woken` fails, the pause keeps its length.
      const rest = await woken().catch(() => never)
      until = Math.min(until, performance.now() + rest)
    }
  }
  const forget = onAbort(signal, wake)
  const run = async () => {
    // Waits one microtask, so that the caller has the loop before the first
    // `look`.
    await undefined
    try {
      for (let failures = 0; !isOver(); ) {
        let next: number
        nextLook = 0
        try {
          next = await look()
          failures = 0
        } catch (error) {
          next = await work.failed(error, ++failures)
        }
        if (work.tell) await work.tell().catch(() => undefined)
        if (!isOver()) await pause(next, failures > 0)
      }
    } finally {
      forget()
    }
  }
  return { wake, nextLook: () => nextLook, ended: run() }
}
