import type { Hex } from 'viem'
import type { SignedPayment } from '../../core/types.js'

/** A payment that passed its rehearsal. */
export type RehearsedPayment = {
  payment: SignedPayment
  signatureHash: Hex | undefined
  /** The block at which it passed; time in Unix seconds. */
  head: { number: bigint; timestamp: bigint }
  /** Gas limit of its capture. */
  gas: bigint
  /** True when payers that are contracts would have been refused. */
  refusesContracts: boolean
}

/**
 * Memory of payments that were just accepted. While no new block comes, their
 * capture needs no second rehearsal: it would run on the same state.
 */
export type RehearsalMemory = {
  remember(orderId: string, rehearsed: RehearsedPayment): void
  /** Returns and forgets the rehearsal of an order's payment. */
  take(orderId: string): RehearsedPayment | undefined
}

/** Most payments to remember: the oldest are rehearsed again. */
const most = 1_000

/** Milliseconds after which a payment is dropped, since it is a credential. */
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
