import type { Destination } from './types.js'

/**
 * Returns the key under which the store keeps the event cursor of a
 * destination.
 */
export const destinationKey = (
  kind: 'cursor',
  { recipient, ...token }: Destination,
): string => `${destinationPrefix(kind, token)}${recipient}`

/**
 * Returns the text with which the cursor keys of all recipients of a token
 * begin.
 */
export const destinationPrefix = (
  kind: 'cursor',
  { chainId, token }: Omit<Destination, 'recipient'>,
): string => `${kind}:${chainId}:${token}:`
