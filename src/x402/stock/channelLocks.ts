import { InvalidFieldError, shown } from '../../core/errors.js'
import type { PaymentStore } from '../../store/types.js'
import { channelPrefix } from './channelRecord.js'
import type { X402ChannelStorage } from './types.js'

type Locks = Pick<X402ChannelStorage, 'acquire' | 'release' | 'isHeld'>

/**
 * The locks of channels, as leases of the store. A lease ends by the database's
 * clock, so the lock of a killed process ends too.
 */
export function channelLocks({
  store,
  ready,
  parseId,
}: {
  store: PaymentStore
  ready: () => Promise<unknown>
  parseId: (channelId: string) => string
}): Locks {
  const keyOf = (channelId: string) => `${channelPrefix}${parseId(channelId)}`
  const findOwner = async (key: string) => {
    await ready()
    return (await store.read((tables) => tables.getLease(key)))?.owner
  }
  return {
    acquire: async (channelId, pendingId, ttlMs) => {
      const key = keyOf(channelId)
      const milliseconds = parseTtl(ttlMs)
      // A second call of the same owner would prolong the lease. So looks
      // first: a lock is given once.
      if ((await findOwner(key)) !== undefined) return false
      const wanted = { key, owner: parseOwner(pendingId), milliseconds }
      return (await store.takeLease(wanted)) !== undefined
    },
    release: async (channelId, pendingId) => {
      const key = keyOf(channelId)
      const owner = parseOwner(pendingId)
      if ((await findOwner(key)) !== owner) return
      // Takes the lease again to learn its fence. If it ran out meanwhile, and
      // another owner has it, nothing is taken.
      const lease = await store.takeLease({ key, owner, milliseconds: 1_000 })
      if (lease) await store.releaseLease(lease)
    },
    isHeld: async (channelId, pendingId) => {
      const owner = await findOwner(keyOf(channelId))
      if (owner === undefined) return false
      return pendingId === undefined || owner === pendingId
    },
  }
}

function parseOwner(pendingId: string): string {
  if (typeof pendingId === 'string' && pendingId !== '') return pendingId
  throw new InvalidFieldError('pendingId', shown(pendingId), 'text')
}

function parseTtl(ttlMs: number): number {
  if (Number.isSafeInteger(ttlMs) && ttlMs > 0) return ttlMs
  throw new InvalidFieldError('ttlMs', shown(ttlMs), 'a positive integer')
}
