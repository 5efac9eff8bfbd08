import { drawNonce } from '../../core/drawNonce.js'
import { wait } from '../../core/wait.js'
import type { OrdersContext } from '../../orders/model/types.js'
import type { Lease } from '../../store/types.js'
import { settleKey } from './ownedPayment.js'

/** The right to settle one payment, prolonged until it is released. */
export type HeldSettle = {
  lease(): Lease
  /** True when it ran out, and another call may have it. */
  isLost(): boolean
  release(): Promise<void>
}

/** Milliseconds between two tries to take what another call has. */
const lookEvery = 100

/**
 * Takes the right to settle a payment as soon as no other call has it. That of a
 * process that died ends with `policy.lease`. Nothing when time is over.
 */
export async function holdSettle(
  context: Pick<OrdersContext, 'store' | 'policy'>,
  orderId: string,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<HeldSettle | undefined> {
  const { store } = context
  const { lease: milliseconds } = context.policy
  // Not the instance: two calls of one process exclude each other too.
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
      // The store is asked again; what is written is refused if it ran out.
      () => undefined,
    )
  }, wanted.milliseconds / 3)
  return {
    lease: () => current,
    isLost: () => isLost,
    release: async () => {
      clearInterval(timer)
      // One that is not given back runs out.
      await store.releaseLease(current).catch(() => undefined)
    },
  }
}
