const known = /* @__PURE__ */ new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `end` when the signal aborts. Returns a function that unregisters
 * `end`. All callers share one listener for each signal, because Node warns of
 * a leak from the eleventh listener on.
 */
export function onAbort(signal: AbortSignal, end: () => void): () => void {
  const ends = known.get(signal) ?? new Set()
  if (!known.has(signal)) {
    known.set(signal, ends)
    const endAll = () => {
      for (const one of ends) one()
    }
    signal.addEventListener('abort', endAll, { once: true })
  }
  ends.add(end)
  return () => {
    ends.delete(end)
  }
}

/**
 * Resolves with the result of `work`. Rejects as soon as the signal aborts, by
 * default with the signal's reason.
 */
export function endOnAbort<value>(
  work: Promise<value>,
  signal: AbortSignal | undefined,
  reasonOf = ({ reason }: AbortSignal): unknown => reason,
): Promise<value> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(reasonOf(signal))
    const forget = onAbort(signal, abort)
    work.then(resolve, reject).finally(forget)
    if (signal.aborted) abort()
  })
}
