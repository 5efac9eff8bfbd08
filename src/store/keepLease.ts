import { wait } from '../core/wait.js'
import type { Lease, PaymentStore } from './types.js'

/** A lease that one process takes, prolongs and releases. */
export type KeptLease = {
  /** The lease as last taken or prolonged; `undefined` while it is not held. */
  readonly held: Lease | undefined
  /**
   * Takes the lease, or returns the one that is held. Prolongs a held lease
   * once a third of its time has passed, so that work which starts now has at
   * least two thirds left.
   *
   * @returns `undefined` while another owner holds the lease. A `fence` other
   * than the last one means that the lease had run out in between.
   */
  take(): Promise<Lease | undefined>
  /** Prolongs the lease immediately; does nothing if the lease is not held. */
  prolong(): Promise<void>
  /**
   * Runs `work` and prolongs the lease until `work` ends, so that the lease
   * does not run out during slow work. Does not stop `work` when the lease is
   * lost: the store then refuses the writes of `work`.
   */
  during<result>(
    work: () => Promise<result>,
    options?: {
      /**
       * Milliseconds after which the lease is no longer prolonged, so that
       * another owner can take it if `work` hangs.
       * @default no limit
       */
      most?: number | undefined
      /**
       * Called once when another owner has taken the lease, or may have taken
       * it because it ran out.
       */
      onLost?: (() => void) | undefined
    },
  ): Promise<result>
  /**
   * True when this lease is still held. A prolonged lease is the same lease,
   * because it keeps its `fence`.
   */
  holds(lease: Lease): boolean
  /**
   * True when the lease is held and runs out no earlier than this many
   * milliseconds from now.
   */
  lasts(milliseconds: number): boolean
  /** Forgets a lost lease, without a call to the store. */
  forget(): void
  /**
   * Releases the lease, so that others can take it at once. If the store does
   * not answer, the lease runs out by itself.
   */
  release(): Promise<void>
}

/** Creates the object that takes and prolongs one lease. Takes no lease yet. */
export function keepLease(
  store: Pick<PaymentStore, 'takeLease' | 'releaseLease'>,
  wanted: Parameters<PaymentStore['takeLease']>[0],
): KeptLease {
  const { milliseconds } = wanted
  let held: Lease | undefined
  // Milliseconds of `performance.now()`. `Date.now()` could jump back, and the
  // lease would then seem to last longer.
  let since = Number.NEGATIVE_INFINITY
  const ask = async () => {
    // Counts the lease from before the request, so that it ends here before it
    // ends in the store.
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
      // Ignores a failed prolongation: the next one may succeed before the
      // lease runs out.
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
        // Waits for a pending prolongation. If it reached the store after the
        // release, it would take the lease again.
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
