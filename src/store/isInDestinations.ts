import type { Destination } from './types.js'

export function isInDestinations(
  row: Destination,
  destinations: readonly Destination[],
): boolean {
  return destinations.some(
    ({ chainId, token, recipient }) =>
      row.chainId === chainId &&
      row.token === token &&
      row.recipient === recipient,
  )
}
