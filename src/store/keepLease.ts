import { wait } from '../core/wait.js'
import type { Lease, PaymentStore } from './types.js'

/** A lease that one process takes, prolongs and releases. */
export type KeptLease = {
  /** The lease as last taken; `undefined` while another owner has it. */
  readonly held: Lease | undefined
  /**
   * Takes the lease, or prolongs it once a third of it has passed, so that at
   * least two thirds are left for the work under it.
   *
   * @returns `undefined` while another owner holds it. If the `fence` differs
   * from the last one, the lease had run out in between.
   */
  take(): Promise<Lease | undefined>
  /** Prolongs the lease at once, if it is held. */
  prolong(): Promise<void>
  /**
   * Does work and prolongs the lease meanwhile, so that slow work does not cost
   * the lease. Does not stop the work if the lease is lost: the store refuses
   * its writes.
   */
  during<result>(
    work: () => Promise<result>,
    options?: {
      /**
       * Milliseconds after which work that hangs leaves the lease to others.
       * @default no limit
       */
      most?: number | undefined
      /** Called once when another owner has the lease, or may have it. */
      onLost?: (() => void) | undefined
    },
  ): Promise<result>
  /** True when `lease` is the one held now, even if it was prolonged since. */
  holds(lease: Lease): boolean
  /**
   * True when no other owner can take the lease within so many milliseconds.
   */
  lasts(milliseconds: number): boolean
  /** Forgets a lease that was lost. */
  forget(): void
  /** Releases the lease. If that fails, it runs out by itself. */
  release(): Promise<void>
}

/** Prepares a lease. Takes nothing yet. */
export function keepLease(
  store: Pick<PaymentStore, 'takeLease' | 'releaseLease'>,
  wanted: Parameters<PaymentStore['takeLease']>[0],
): KeptLease {
  const { milliseconds } = wanted
  let held: Lease | undefined
  // Time of `performance.now()`, because the wall clock may be set back.
  let since = Number.NEGATIVE_INFINITY
  const ask = async () => {
    // The time before the request, so that we stop before the lease runs out in
    // the store.
    const asked = performance.now()
    held = await store.takeLease(wanted)
    since = asked
    return held
  }
  const prolong = async () => {
    if (held) await ask()
  }
  const holds = ({ fence }: Lease) => held?.fence === fence
  const lasts = (rest: number) =>
    held !== undefined && performance.now() + rest < since + milliseconds
  const keep = async (
    over: AbortSignal,
    most: number,
    onLost: () => void,
  ): Promise<void> => {
    const fence = held?.fence
    const end = performance.now() + most
    for (;;) {
      await wait(milliseconds / 3, over)
      if (over.aborted || performance.now() > end) return
      // Ignore a failure: the store may answer again before the lease runs out.
      await prolong().catch(() => undefined)
      if (held?.fence !== fence || !lasts(0)) return onLost()
    }
  }
  return {
    get held() {
      return held
    },
    take: async () =>
      held && performance.now() - since < milliseconds / 3 ? held : ask(),
    prolong,
    during: async (
      work,
      { most = Number.POSITIVE_INFINITY, onLost = () => undefined } = {},
    ) => {
      const over = new AbortController()
      const keeping = keep(over.signal, most, onLost)
      try {
        return await work()
      } finally {
        over.abort()
        // A prolongation that is still pending would take a released lease
        // again.
        await keeping
      }
    },
    holds,
    lasts,
    forget: () => {
      held = undefined
    },
    release: async () => {
      const lease = held
      held = undefined
      if (lease) await store.releaseLease(lease).catch(() => undefined)
    },
  }
}
