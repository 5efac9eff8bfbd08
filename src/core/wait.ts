/** Waits, or wakes early when the signal aborts; leaves no timer behind. */
export function wait(
  milliseconds: number,
  signal?: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, milliseconds)
    signal?.addEventListener('abort', wake)
  })
}

/**
 * Resolves with the result of the work, or with that of `late` once the time is
 * over. The work goes on, but its result is dropped.
 */
export function inTime<value>(
  work: Promise<value>,
  milliseconds: number,
  late: () => value,
): Promise<value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    }, milliseconds)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Does a task after those of this tick, before the timers of the next. */
export function soon(task: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(task)
  else setTimeout(task, 0)
}

/** Gives requests on their way their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve))
}
