import { LeaseLostError } from './errors.js'
import type { Lease, LeaseHolder, PaymentStore } from './types.js'

/**
 * Keeps leases in the memory of one process. Measures time with
 * `performance.now()`, because `Date.now()` jumps when somebody sets the clock.
 */
export function memoryLeases(): {
  take(wanted: Parameters<PaymentStore['takeLease']>[0]): Lease | undefined
  release(lease: Lease): void
  find(key: string): LeaseHolder | undefined
  /**
   * @throws {@link LeaseLostError} when the lease was released, or its key has
   * a newer one.
   */
  check(lease: Lease): void
} {
  const leases = new Map<string, Lease & { until: number }>()
  // All keys share one counter. With a counter for each key, a released key
  // would start at 1 again, and two leases would have the same fence.
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
