import type { Destination } from './types.js'

/** The key in the store of a destination's cursor. */
export const destinationKey = (
  kind: 'cursor',
  { recipient, ...token }: Destination,
): string => `${destinationPrefix(kind, token)}${recipient}`

/** The beginning of the keys of all destinations of a token. */
export const destinationPrefix = (
  kind: 'cursor',
  { chainId, token }: Omit<Destination, 'recipient'>,
): string => `${kind}:${chainId}:${token}:`
