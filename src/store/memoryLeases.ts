import { LeaseLostError } from './errors.js'
import type { Lease, LeaseHolder, PaymentStore } from './types.js'

/**
 * Keeps the leases of one process. Measures time with `performance.now()`,
 * because the wall clock may be set.
 */
export function memoryLeases(): {
  take(wanted: Parameters<PaymentStore['takeLease']>[0]): Lease | undefined
  release(lease: Lease): void
  find(key: string): LeaseHolder | undefined
  /** @throws {@link LeaseLostError} when a key has a newer lease, or none. */
  check(lease: Lease): void
} {
  const leases = new Map<string, Lease & { until: number }>()
  // One counter for all keys: a released lease leaves no row, so a counter for
  // each key would start again and repeat a fence.
  let lastFence = 0n
  const isNewest = ({ key, owner, fence }: Lease) => {
    const held = leases.get(key)
    return held?.owner === owner && held.fence === fence
  }
  const findHeld = (key: string, now: number) => {
    const held = leases.get(key)
    return held && held.until > now ? held : undefined
  }
  return {
    take: ({ key, owner, milliseconds }) => {
      const now = performance.now()
      const held = findHeld(key, now)
      if (held && held.owner !== owner) return undefined
      const fence = held?.fence ?? ++lastFence
      leases.set(key, { key, owner, fence, until: now + milliseconds })
      return { key, owner, fence }
    },
    release: (lease) => {
      if (isNewest(lease)) leases.delete(lease.key)
    },
    find: (key) => {
      const now = performance.now()
      const held = findHeld(key, now)
      if (!held) return undefined
      const left = Math.ceil(held.until - now)
      return { owner: held.owner, until: BigInt(Date.now() + left) }
    },
    check: (lease) => {
      if (!isNewest(lease)) throw new LeaseLostError({ key: lease.key })
    },
  }
}
