import { LeaseLostError } from './errors.js'
import type { Lease, PaymentStore } from './types.js'

/** Leases of one process, by its own clock. */
export function memoryLeases(): {
  take(wanted: Parameters<PaymentStore['takeLease']>[0]): Lease | undefined
  release(lease: Lease): void
  /** @throws {@link LeaseLostError} when it is not the newest of its key. */
  check(lease: Lease): void
} {
  const leases = new Map<string, Lease & { until: number }>()
  const isNewest = ({ key, owner, fence }: Lease) => {
    const held = leases.get(key)
    return held?.owner === owner && held.fence === fence
  }
  return {
    take: ({ key, owner, milliseconds }) => {
      const now = Date.now()
      const held = leases.get(key)
      const isHeld = held !== undefined && held.until > now
      if (isHeld && held.owner !== owner) return undefined
      const fence = (held?.fence ?? 0n) + (isHeld ? 0n : 1n)
      leases.set(key, { key, owner, fence, until: now + milliseconds })
      return { key, owner, fence }
    },
    release: (lease) => {
      if (isNewest(lease)) leases.set(lease.key, { ...lease, until: 0 })
    },
    check: (lease) => {
      if (!isNewest(lease)) throw new LeaseLostError({ key: lease.key })
    },
  }
}
