import { drawNonce } from '../../core/drawNonce.js'
import { wait } from '../../core/wait.js'
import type { OrdersContext } from '../../orders/engine.js'
import { type KeptLease, keepLease } from '../../store/keepLease.js'
import type { Lease } from '../../store/types.js'
import { settleKey } from './ownedPayment.js'

/** The lease that lets its holder settle one payment, and what prolongs it. */
export type HeldSettle = { kept: KeptLease; lease: Lease }

/** Milliseconds between two tries to take the lease. */
const lookEvery = 100

/**
 * Waits for the lease of a payment and takes it. If its holder died, the lease
 * runs out after `policy.lease`. Returns `undefined` when the time in `until`
 * is over or the signal aborts.
 */
export async function takeSettle(
  { store, policy }: Pick<OrdersContext, 'store' | 'policy'>,
  orderId: string,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<HeldSettle | undefined> {
  const kept = keepLease(store, {
    key: settleKey(orderId),
    // Random, so that two calls of one process exclude each other too.
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
