import { drawNonce } from '../../core/drawNonce.js'
import { wait } from '../../core/wait.js'
import type { OrdersContext } from '../../orders/engine.js'
import { type KeptLease, keepLease } from '../../store/keepLease.js'
import type { Lease } from '../../store/types.js'
import { settleKey } from './ownedPayment.js'

/** The right to settle one payment. */
export type HeldSettle = { kept: KeptLease; lease: Lease }

/** Milliseconds between two tries to take the lease. */
const lookEvery = 100

/**
 * Waits for the lease of a payment and takes it. The lease of a process that
 * died runs out after `policy.lease`. Returns `undefined` when the time is
 * over.
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
