import { onAbort } from './onAbort.js'
import { wait } from './wait.js'

/** What a loop does. All times are in milliseconds. */
export type LoopWork = {
  /** Does what is due. Returns the time until the next poll. */
  look(): Promise<number>
  /**
   * Notes a failed poll. Returns the time until the next try. If it throws, the
   * loop ends and `ended` rejects.
   *
   * @param failures number of failed polls in a row.
   */
  failed(error: unknown, failures: number): number | Promise<number>
  /**
   * Writes the state of the work for others to read, after each poll, also a
   * failed one. If that fails, the next poll writes again.
   */
  tell?: (() => Promise<void>) | undefined
  /**
   * Called when the loop is woken in a pause. Returns the time until the next
   * poll, which can only shorten the pause. @default 0
   */
  woken?: (() => Promise<number>) | undefined
  /** Returns true if the loop should end before its signal aborts. */
  isOver?: (() => boolean) | undefined
  /**
   * Runs `look` once a slot is free, if loops share a limited number of slots.
   */
  limit?: (<result>(look: () => Promise<result>) => Promise<result>) | undefined
  /** A lease that long pauses prolong each time `every` has passed. */
  lease?: { every: number; prolong(): Promise<void> } | undefined
}

/** Work that is done again and again. */
export type Loop = {
  /** Wakes the loop from its pause; if it does not pause, from the next one. */
  wake(): void
  /** Resolves once the loop has ended, after its last poll. */
  ended: Promise<void>
}

/** The longest time for which a timer can be set. */
const longestTimer = 2 ** 31 - 1

const never = Number.POSITIVE_INFINITY

/** Polls again and again, until the signal aborts. */
export function startLoop(work: LoopWork, signal: AbortSignal): Loop {
  const {
    limit = (look) => look(),
    woken = async () => 0,
    lease = { every: never, prolong: async () => undefined },
  } = work
  let isWoken = false
  let alarm = new AbortController()
  const wake = () => {
    isWoken = true
    alarm.abort()
  }
  const isOver = () => signal.aborted || work.isOver?.() === true
  // The loop may end while it waits for a slot.
  const look = () => limit(async () => (isOver() ? 0 : work.look()))
  const sleepUntil = async (time: number) => {
    alarm = new AbortController()
    const rest = Math.min(time - performance.now(), longestTimer)
    if (!isWoken) await wait(rest, alarm.signal)
  }
  const pause = async (milliseconds: number, isFailed: boolean) => {
    let until = performance.now() + milliseconds
    // After a failure, another process may take the lease. Before short pauses,
    // the next poll prolongs the lease soon enough.
    const isKept = !isFailed && milliseconds >= 2 * lease.every
    let prolongAt = isKept ? performance.now() + lease.every : never
    while (!isOver() && performance.now() < until) {
      await sleepUntil(Math.min(until, prolongAt))
      if (isOver()) return
      if (performance.now() >= prolongAt) {
        // If this fails, the next poll fails too and reports it.
        await lease.prolong().catch(() => undefined)
        prolongAt = performance.now() + lease.every
      }
      if (!isWoken) continue
      isWoken = false
      // If `woken` fails, the pause stays as it is.
      const rest = await woken().catch(() => never)
      until = Math.min(until, performance.now() + rest)
    }
  }
  const forget = onAbort(signal, wake)
  const run = async () => {
    // The first poll begins once the caller has the loop.
    await undefined
    try {
      for (let failures = 0; !isOver(); ) {
        let next: number
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
  return { wake, ended: run() }
}
