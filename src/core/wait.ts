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
