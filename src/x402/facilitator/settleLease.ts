import { drawNonce } from '../../core/drawNonce.js'
import { wait } from '../../core/wait.js'
import type { OrdersContext } from '../../orders/engine.js'
import { type KeptLease, keepLease } from '../../store/keepLease.js'
import type { Lease } from '../../store/types.js'
import { settleKey } from './ownedPayment.js'

/**
 * The lease that lets one call at a time settle a payment, and the object that
 * prolongs it.
 */
export type HeldSettle = { kept: KeptLease; lease: Lease }

/** Milliseconds between two tries to take the lease. */
const lookEvery = 100

/**
 * Waits for the lease of a payment and takes it. If the process that holds it
 * has died, the lease expires after `policy.lease`. Returns `undefined` when
 * the time `until` is over or the signal aborts.
 */
export async function takeSettle(
  { store, policy }: Pick<OrdersContext, 'store' | 'policy'>,
  orderId: string,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<HeldSettle | undefined> {
  const kept = keepLease(store, {
    key: settleKey(orderId),
    // A random owner, so that two calls in the same process exclude each other
    // too.
    owner: drawNonce(),
    milliseconds: policy.lease,
  })
  for (;;) {
    const lease = await kept.take()
    if (lease) return { kept, lease }
    if (signal.aborted || performance.now() >= until) return undefined
    await wait(lookEvery, signal)
  }
}
