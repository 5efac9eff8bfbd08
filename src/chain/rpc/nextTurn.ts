/** Does a task after those of this tick, before the timers of the next. */
export function soon(task: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(task)
  else setTimeout(task, 0)
}

/** Gives requests on their way their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve))
}
