const known = /* @__PURE__ */ new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Has something called when a signal aborts, and gives what takes that back.
 * One listener serves all: Node takes more than ten of a signal for a leak.
 */
export function onEnd(signal: AbortSignal, end: () => void): () => void {
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
