import type { GateContext } from './types.js'

/**
 * Shows other processes that this gate is alive and still processes its
 * payments.
 */
export type Liveness = {
  /**
   * Takes or prolongs the lease of this gate, and keeps it while any payment is
   * processed.
   */
  hold(): Promise<void>
  /**
   * True while the gate with this name, in another process, may still be
   * processing payments.
   */
  isAlive(owner: string): Promise<boolean>
}

/** Key of the lease that a gate holds while it processes payments. */
export const leaseKey = (owner: string): string => `x402:${owner}`

/**
 * Holds one lease for the whole gate, and not one for each payment, so that the
 * number of writes does not grow with the payments. Prolongs it only while a
 * payment is processed.
 */
export function createLiveness(gate: GateContext): Liveness {
  const { context, owner, working, streams } = gate
  const { lease: milliseconds } = context.policy
  let since = Number.NEGATIVE_INFINITY
  let taking: Promise<void> | undefined
  let timer: ReturnType<typeof setInterval> | undefined

  const take = async () => {
    const key = leaseKey(owner)
    await context.store.takeLease({ key, owner, milliseconds })
    since = performance.now()
  }
  const prolong = () => {
    taking ??= take().finally(() => {
      taking = undefined
    })
    return taking
  }
  const tick = () => {
    // If the store fails, the next tick tries again.
    if (working.size + streams.size > 0) prolong().catch(() => undefined)
    else {
      clearInterval(timer)
      timer = undefined
    }
  }
  return {
    hold: async () => {
      timer ??= setInterval(tick, milliseconds / 3)
      // The timer must not keep the process alive.
      Object(timer).unref?.()
      if (performance.now() - since > milliseconds / 3) await prolong()
    },
    isAlive: async (other) => {
      // The record names this gate, and this process runs only one processing
      // of a payment at a time. So the run that wrote the record has ended.
      if (other === owner) return false
      const held = await context.store.read((tables) =>
        tables.getLease(leaseKey(other)),
      )
      return held?.owner === other
    },
  }
}
