import type { GateContext } from './types.js'

/** Shows other processes that this one still works on its payments. */
export type Liveness = {
  /** Makes sure that the lease of this gate is held, and prolongs it. */
  hold(): Promise<void>
  /** True while another gate, of that name, may still be working. */
  isAlive(owner: string): Promise<boolean>
}

/** Key of the lease that a gate holds while it works. */
export const leaseKey = (owner: string): string => `x402:${owner}`

/**
 * One lease for a gate, not one for each payment: it is prolonged only while
 * there is work.
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
      // A process works on a payment once at a time, so no other work of this
      // gate is running.
      if (other === owner) return false
      const held = await context.store.read((tables) =>
        tables.getLease(leaseKey(other)),
      )
      return held?.owner === other
    },
  }
}
