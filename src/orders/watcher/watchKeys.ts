import { bytesToHex, stringToBytes } from 'viem'
import type { Keccak256 } from '../../core/keccak.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { Shop } from '../model/types.js'

/**
 * Names the lease for watching each chain, by the shop. Instances of a shop
 * share it: one of them watches, the others wait.
 *
 * Without a shop name, instances with the same destinations share a lease.
 * Instances with other destinations have another lease, so that none relies on
 * an instance that does not know its recipients.
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
 * Returns the key in the store for watching a chain, or for a part of that. The
 * schedules of subscriptions use the same names.
 */
export function watchKey(
  { watches }: Pick<OrdersContext, 'watches'>,
  { chainId, token, recipient }: Part,
  kind: 'watch' | 'cursor' | 'fulfilled' | 'schedule' | 'charges' = 'watch',
): string {
  const parts = [kind, chainId, watches.get(chainId), token, recipient]
  return parts.filter((part) => part !== undefined).join(':')
}
