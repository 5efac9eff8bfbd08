import { onAbort } from '../core/onAbort.js'
import { keepLease } from '../store/keepLease.js'
import type { Lease } from '../store/types.js'
import { progressKey } from './progress.js'
import type { TargetRun } from './targets/types.js'

/** The lease of a target, as long as this process holds it. */
export type LeaseHold = {
  lease: Lease
  /** Aborts when the run ends or the lease is lost. */
  over: AbortSignal
  lose(): void
  /**
   * True when the lease lasts at least this many milliseconds. A request that
   * can take so long may then be sent: no other process gets the lease
   * meanwhile.
   */
  lasts(milliseconds: number): boolean
}

/**
 * Takes the lease of a target, and prolongs it while `work` runs.
 *
 * @returns false when another process holds the lease.
 */
export async function underLease(
  { store, owner, target, tools, signal }: TargetRun,
  work: (hold: LeaseHold) => Promise<void>,
): Promise<boolean> {
  const kept = keepLease(store, {
    key: progressKey(target),
    owner,
    milliseconds: tools.lease,
  })
  const lease = await kept.take()
  if (!lease) return false
  const over = new AbortController()
  const lose = () => over.abort()
  if (signal.aborted) lose()
  const forget = onAbort(signal, lose)
  const { lasts } = kept
  try {
    await kept.during(() => work({ lease, over: over.signal, lose, lasts }), {
      onLost: lose,
    })
  } finally {
    forget()
    await kept.release()
  }
  return true
}
