import type { ClientGroup, TaskName, WatchAsides } from '../../orders/engine.js'
import type { SubscriptionRecord } from '../../store/types.js'

/** Work that failed and waits for a retry. `what` is its name in `health`. */
export type NamedAside = {
  what: string
  /** Reports a failure. Returns milliseconds until the next try. */
  put(error: unknown): number
  isWaiting(): boolean
  clear(): void
}

/** Retry state of the next charge of a subscription, or of other work on it. */
export function asideAt(
  asides: WatchAsides,
  { id, chainId, token, recipient }: SubscriptionRecord,
  what: string = id,
): NamedAside {
  const destination = { chainId, token, recipient }
  return nameAside(what, [asides.ofToken(token).at(destination)])
}

/**
 * Name under which `health` shows a failed search for a subscription's
 * revocation.
 */
export function revocationOf({ id }: Pick<SubscriptionRecord, 'id'>): string {
  return `revocation ${id}`
}

/** Retry state of work that concerns all destinations of a client. */
export function asideOf(
  asides: WatchAsides,
  { tokens }: Pick<ClientGroup, 'tokens'>,
  what: Extract<TaskName, 'schedule' | 'charges'>,
): NamedAside {
  return nameAside(what, tokens.map(asides.ofToken))
}

type List = {
  put(name: string, error: unknown): number
  isWaiting(name: string): boolean
  clear(name: string): void
}

function nameAside(what: string, lists: readonly List[]): NamedAside {
  return {
    what,
    put: (error) => Math.max(...lists.map((list) => list.put(what, error))),
    isWaiting: () => lists.some((list) => list.isWaiting(what)),
    clear: () => {
      for (const list of lists) list.clear(what)
    },
  }
}
