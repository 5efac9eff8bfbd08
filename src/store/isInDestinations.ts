import type { Destination } from './types.js'

/** True when a row belongs to one of these destinations. */
export function isInDestinations(
  row: Destination,
  destinations: readonly Destination[],
): boolean {
  return Object.isFrozen(destinations)
    ? indexDestinations(destinations).has(row)
    : destinations.some(
        ({ chainId, token, recipient }) =>
          row.chainId === chainId &&
          row.token === token &&
          row.recipient === recipient,
      )
}

/** A list of destinations, indexed to check many rows against it quickly. */
export type DestinationIndex = {
  has(row: Destination): boolean
  /** The distinct tokens of the list. */
  tokens: readonly Pick<Destination, 'chainId' | 'token'>[]
}

/**
 * Caches the index of each frozen list. A list that can change is not cached.
 */
const known = /* @__PURE__ */ new WeakMap<object, DestinationIndex>()

/**
 * Indexes a list of destinations. For a frozen list, returns the cached index
 * from the second call on.
 */
export function indexDestinations(
  destinations: readonly Destination[],
): DestinationIndex {
  const found = known.get(destinations)
  if (found) return found
  const tokens = new Map<
    string,
    { chainId: number; token: Destination['token']; recipients: Set<string> }
  >()
  for (const { chainId, token, recipient } of destinations) {
    const key = tokenWord({ chainId, token })
    const one = tokens.get(key) ?? { chainId, token, recipients: new Set() }
    tokens.set(key, one)
    one.recipients.add(recipient)
  }
  const index: DestinationIndex = {
    has: (row) =>
      tokens.get(tokenWord(row))?.recipients.has(row.recipient) === true,
    tokens: [...tokens.values()].map(({ chainId, token }) => ({
      chainId,
      token,
    })),
  }
  if (Object.isFrozen(destinations)) known.set(destinations, index)
  return index
}

const tokenWord = ({
  chainId,
  token,
}: Pick<Destination, 'chainId' | 'token'>): string => `${chainId} ${token}`
