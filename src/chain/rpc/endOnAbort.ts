/** What the work gives, or the signal's own reason as soon as it aborts. */
export function endOnAbort<value>(
  work: Promise<value>,
  signal: AbortSignal | undefined,
): Promise<value> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    const end = () => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort)
    work.then(resolve, reject).finally(end)
    if (signal.aborted) abort()
  })
}
