import type { Observation } from '../../core/observeFailure.js'
import type { Destination, Lease } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { type Aside, openAside } from '../loop/putAside.js'
import { watchKey } from './watchKeys.js'

/**
 * The order or destination that a failure concerns, if it does not concern the
 * whole chain or token.
 */
export type FailedPart = {
  orderId?: string | undefined
  /** The destination at which `health` shows the failure. */
  destination?: Destination | undefined
}

/**
 * Steps and orders that failed while watching a chain. Each waits for its next
 * try.
 */
export type WatchAside = {
  /**
   * Makes a step or order that failed wait for its next try, and reports the
   * failure.
   * @returns milliseconds until the next try.
   */
  put(name: string, error: unknown, part?: FailedPart | undefined): number
  isWaiting(name: string): boolean
  clear(name: string): void
  /** The failures of steps that concern this destination only. */
  at(destination: Destination): Pick<Aside, 'put' | 'isWaiting' | 'clear'>
}

/**
 * All failures of watching a chain, or of charging its subscriptions. `health`
 * shows a failure of the chain at all its destinations, one of a token at all
 * destinations of the token, and one of an order or a recipient at that
 * destination only.
 */
export type WatchAsides = {
  chain: WatchAside
  ofToken(token: Destination['token']): WatchAside
  /** Forgets all failures, because another process does this work now. */
  clearAll(): void
  /** True while a failure is to be tried again soon. */
  isTrying(): boolean
  /** Number of failures, whether or not they are due for a new try. */
  size(): number
  /**
   * Stores the failures that changed, so that `health` of any process shows
   * them.
   */
  save(lease: Lease | undefined): Promise<void>
}

export function openWatchAsides(
  context: OrdersContext,
  chainId: number,
  kind: 'watch' | 'schedule' = 'watch',
): WatchAsides {
  const lists = new Map<string, Aside>()
  const listOf = (about: Partial<Destination>): Aside => {
    const key = watchKey(context, { ...about, chainId }, kind)
    const known = lists.get(key)
    if (known) return known
    const opened = openAside(context, {
      key,
      observed: `${kind}.failed`,
      about: aboutOf(chainId, about),
    })
    lists.set(key, opened)
    return opened
  }
  const chain = openOne(listOf, {})
  const tokens = new Map<string, WatchAside>()
  return {
    chain,
    ofToken: (token) => {
      const known = tokens.get(token)
      if (known) return known
      const opened = openOne(listOf, { token })
      tokens.set(token, opened)
      return opened
    },
    clearAll: () => {
      for (const list of lists.values()) list.clearAll()
    },
    isTrying: () => [...lists.values()].some((one) => one.isTrying()),
    size: () => [...lists.values()].reduce((sum, one) => sum + one.size(), 0),
    save: async (lease) => {
      for (const list of lists.values()) await list.save(lease)
    },
  }
}

/**
 * Remembers which of the lists of failures contains a name, so that `clear`
 * finds it.
 */
function openOne(
  listOf: (about: Partial<Destination>) => Aside,
  about: Partial<Destination>,
): WatchAside {
  const lists = new Map<string, Aside>()
  return {
    put: (name, error, { orderId, destination } = {}) => {
      const list = listOf(destination ?? about)
      lists.set(name, list)
      return list.put(name, error, orderId)
    },
    isWaiting: (name) => lists.get(name)?.isWaiting(name) ?? false,
    clear: (name) => {
      lists.get(name)?.clear(name)
      lists.delete(name)
    },
    at: listOf,
  }
}

function aboutOf(
  chainId: number,
  { token, recipient }: Partial<Destination>,
): Observation['attributes'] {
  return {
    chainId,
    ...(token === undefined ? {} : { token }),
    ...(recipient === undefined ? {} : { recipient }),
  }
}
