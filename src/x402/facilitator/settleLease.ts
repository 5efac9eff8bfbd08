import { drawNonce } from '../../core/drawNonce.js'
import { wait } from '../../core/wait.js'
import type { OrdersContext } from '../../orders/engine.js'
import type { Lease } from '../../store/types.js'
import { settleKey } from './ownedPayment.js'

/** The right to settle one payment, prolonged until it is released. */
export type HeldSettle = {
  lease(): Lease
  /** True when the lease ran out, so that another call may have it. */
  isLost(): boolean
  release(): Promise<void>
}

/** Milliseconds between two tries to take the lease. */
const lookEvery = 100

/**
 * Waits for the lease of a payment and takes it. The lease of a process that
 * died runs out after `policy.lease`. Returns `undefined` when the time is
 * over.
 */
export async function holdSettle(
  context: Pick<OrdersContext, 'store' | 'policy'>,
  orderId: string,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<HeldSettle | undefined> {
  const { store } = context
  const { lease: milliseconds } = context.policy
  // A random owner, so that two calls of one process exclude each other too.
  const wanted = {
    key: settleKey(orderId),
    owner: drawNonce(),
    milliseconds,
  }
  for (;;) {
    const lease = await store.takeLease(wanted)
    if (lease) return keepAlive({ store, wanted, lease })
    if (signal.aborted || performance.now() >= until) return undefined
    await wait(lookEvery, signal)
  }
}

type Taken = Pick<OrdersContext, 'store'> & {
  wanted: Parameters<OrdersContext['store']['takeLease']>[0]
  lease: Lease
}

function keepAlive({ store, wanted, lease }: Taken): HeldSettle {
  let current = lease
  let isLost = false
  const timer = setInterval(() => {
    store.takeLease(wanted).then(
      (next) => {
        if (next?.fence === current.fence) current = next
        else isLost = true
      },
      // The next tick tries again. If the lease ran out, the store refuses
      // writes.
      () => undefined,
    )
  }, wanted.milliseconds / 3)
  return {
    lease: () => current,
    isLost: () => isLost,
    release: async () => {
      clearInterval(timer)
      // If this fails, the lease runs out by itself.
      await store.releaseLease(current).catch(() => undefined)
    },
  }
}
