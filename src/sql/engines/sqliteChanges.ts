/** Milliseconds between two checks whether another process has written. */
const askEvery = 100

/** Notifies listeners of events that other processes commit. */
export type SqliteChanges = {
  /** Returns a function that unregisters the listener. */
  listen(listener: () => void): () => void
  end(): Promise<void>
}

/**
 * Notifies listeners when another process commits new events to a file. Does
 * not report commits without an event, such as those of leases: a listener that
 * commits in response would cause the next report, without end.
 */
export function hearSqlite({
  countOthers,
  findNewest,
}: {
  /** Returns a number that changes when another process commits. */
  countOthers(): Promise<bigint>
  /** Returns the cursor of the newest event. */
  findNewest(): Promise<bigint>
}): SqliteChanges {
  const listeners = new Set<() => void>()
  let timer: ReturnType<typeof setInterval> | undefined
  let asking: Promise<void> | undefined
  let commits: bigint | undefined
  let newest: bigint | undefined
  const ask = async (): Promise<void> => {
    const counted = await countOthers()
    if (counted === commits) return
    const before = newest
    newest = await findNewest()
    commits = counted
    if (before !== undefined && before !== newest)
      for (const listener of listeners) listener()
  }
  const askInTurn = (): void => {
    asking ??= ask()
      // Ignores the error: the next read or write of the store reports it.
      .catch(() => undefined)
      .finally(() => {
        asking = undefined
      })
  }
  const start = (): void => {
    timer = setInterval(askInTurn, askEvery)
    timer.unref()
    askInTurn()
  }
  const stop = async (): Promise<void> => {
    clearInterval(timer)
    timer = undefined
    commits = undefined
    newest = undefined
    await asking
  }
  return {
    listen: (listener) => {
      const own = () => listener()
      listeners.add(own)
      if (!timer) start()
      return () => {
        listeners.delete(own)
        if (listeners.size === 0) void stop()
      }
    },
    end: async () => {
      listeners.clear()
      await stop()
    },
  }
}
