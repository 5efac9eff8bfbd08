import { bytesToHex, stringToBytes } from 'viem'
import type { Keccak256 } from '../../core/keccak.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext, Shop } from '../model/types.js'

/**
 * Names the watch of each chain by its shop. Instances of a shop share a watch:
 * one of them works, the others wait.
 *
 * Without a name, instances with the same destinations share a watch. Those
 * with other destinations have a watch of their own, so that none relies on
 * another one that does not know its recipients.
 */
export function nameWatches(
  { name, configured: { destinations } }: Pick<Shop, 'name' | 'configured'>,
  keccak256: Keccak256,
): ReadonlyMap<number, string> {
  if (name !== undefined)
    return new Map(destinations.map(({ chainId }) => [chainId, name]))
  const chains = new Map<number, string[]>()
  for (const { chainId, token, recipient } of destinations) {
    const words = chains.get(chainId) ?? []
    words.push(`${token} ${recipient}`)
    chains.set(chainId, words)
  }
  return new Map(
    [...chains].map(([chainId, words]) => {
      const text = words.sort().join('\n')
      const hash = bytesToHex(keccak256(stringToBytes(text)))
      return [chainId, hash.slice(2, 18)]
    }),
  )
}

type Part = Pick<Destination, 'chainId'> & Partial<Destination>

/**
 * The key in the store of a chain's watch, or of a part of it. The schedules of
 * subscriptions use the same names.
 */
export function watchKey(
  { watches }: Pick<OrdersContext, 'watches'>,
  { chainId, token, recipient }: Part,
  kind: 'watch' | 'cursor' | 'fulfilled' | 'schedule' | 'charges' = 'watch',
): string {
  const parts = [kind, chainId, watches.get(chainId), token, recipient]
  return parts.filter((part) => part !== undefined).join(':')
}
