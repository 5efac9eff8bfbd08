import type { RehearsalMemory, RehearsedPayment } from '../context/types.js'

/**
 * Most payments to remember. The captures of older ones are simulated again.
 */
const most = 1_000

/**
 * Milliseconds after which a payment is forgotten, because its signature should
 * not stay in memory.
 */
const longest = 5_000

export function openRehearsalMemory(): RehearsalMemory {
  const known = new Map<
    string,
    { rehearsed: RehearsedPayment; since: number }
  >()
  const dropOld = () => {
    const oldest = performance.now() - longest
    for (const [orderId, { since }] of known) {
      if (since > oldest && known.size <= most) return
      known.delete(orderId)
    }
  }
  return {
    remember: (orderId, rehearsed) => {
      known.delete(orderId)
      known.set(orderId, { rehearsed, since: performance.now() })
      dropOld()
    },
    take: (orderId) => {
      const { rehearsed } = known.get(orderId) ?? {}
      known.delete(orderId)
      dropOld()
      return rehearsed
    },
  }
}
