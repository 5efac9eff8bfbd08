/**
 * Resolves after this time, or as soon as the signal aborts. Leaves no timer.
 */
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
 * Resolves with the result of the work, or with the result of `late` once the
 * time is over. The work then continues, but its result is dropped.
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

/**
 * Runs a task after the tasks of this tick and before the timers of the next.
 */
export function soon(task: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(task)
  else setTimeout(task, 0)
}

/** Resolves in the next turn, so that pending requests can continue first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve))
}
