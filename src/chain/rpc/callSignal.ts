let current: AbortSignal | undefined

/**
 * Starts a request that nobody wants any more once the signal aborts. Only what
 * is asked before the first pause of the work is meant, so that nothing has to
 * be handed down to where it is sent.
 */
export function askUnder<result>(
  signal: AbortSignal | undefined,
  ask: () => result,
): result {
  const before = current
  current = signal
  try {
    return ask()
  } finally {
    current = before
  }
}

/** The signal of the request that is being made in this very call. */
export function callSignal(): AbortSignal | undefined {
  return current
}
