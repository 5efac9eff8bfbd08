/** The longest time of a timer: beyond it, `setTimeout` ends at once. */
const longestTimer = 2 ** 31 - 1

/**
 * Resolves after this time, or as soon as the signal aborts. Then clears its
 * timer. Waits for 24 days at most.
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
    const timer = setTimeout(wake, Math.min(milliseconds, longestTimer))
    signal?.addEventListener('abort', wake)
  })
}

/** Like {@link wait}, but its timer does not keep the process alive. */
export function waitIdly(
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    Object(timer).unref?.()
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/**
 * Resolves with the result of `work`. Once the time is over, resolves with the
 * result of `late` instead; `work` continues, but its result is dropped.
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

/** Runs a task in the next turn of the event loop, before its timers. */
export function soon(task: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(task)
  else setTimeout(task, 0)
}

/**
 * Resolves in the next turn of the event loop, so that answers that have
 * arrived are handled first.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve))
}
