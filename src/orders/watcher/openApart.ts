import type { WatchMemory } from './watchState.js'

/** Puts aside single things that fail in a step, so that the others go on. */
export type Apart = {
  /**
   * Puts one thing aside and reports it.
   *
   * @param due chain time of its next try, if known.
   * @throws the error itself if nothing keeps a list of failures.
   */
  put(name: string, error: unknown, due?: bigint | undefined): void
  /** True while it waits for its next try. */
  isWaiting(name: string): boolean
  /** Forgets everything that was tried again and did not fail. */
  close(): void
}

/** Begins a step that may put single things aside. */
export function openApart(
  memory: WatchMemory,
  { step, time }: { step: string; time: bigint },
): Apart {
  const { aside } = memory
  memory.apart ??= new Map()
  const kept = memory.apart
  const failed = new Set<string>()
  return {
    put: (name, error, due = 0n) => {
      if (!aside) throw error
      aside.put(name, error)
      failed.add(name)
      kept.set(name, { step, due })
    },
    isWaiting: (name) => aside?.isWaiting(name) ?? false,
    close: () => {
      for (const [name, one] of kept) {
        const isOpen =
          one.step !== step || failed.has(name) || aside?.isWaiting(name)
        if (isOpen || one.due > time) continue
        kept.delete(name)
        aside?.clear(name)
      }
    },
  }
}
