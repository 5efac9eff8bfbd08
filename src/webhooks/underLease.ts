import { wait } from '../core/wait.js'
import type { Lease } from '../store/types.js'
import { progressKey } from './progress.js'
import type { TargetRun } from './targets/types.js'

/** The right to deliver to a target, for as long as it lasts. */
export type LeaseHold = {
  lease: Lease
  /** Aborts when the run is to end, or the lease is lost. */
  over: AbortSignal
  lose(): void
  /** Whether nobody else can have it for so many milliseconds. */
  lasts(milliseconds: number): boolean
}

/**
 * Works under the lease of a target, which is prolonged meanwhile.
 *
 * @returns whether the lease was free.
 */
export async function underLease(
  run: TargetRun,
  work: (hold: LeaseHold) => Promise<void>,
): Promise<boolean> {
  const first = await takeLease(run)
  const { lease } = first
  if (!lease) return false
  const held = { lease, until: first.until }
  const over = new AbortController()
  const done = new AbortController()
  const end = () => over.abort()
  if (run.signal.aborted) end()
  run.signal.addEventListener('abort', end)
  const prolonging = prolong(run, held, { done: done.signal, lose: end })
  try {
    await work({
      lease,
      over: over.signal,
      lose: end,
      lasts: (milliseconds) => performance.now() + milliseconds < held.until,
    })
  } finally {
    done.abort()
    run.signal.removeEventListener('abort', end)
    await prolonging
    await run.store.releaseLease(lease).catch(() => undefined)
  }
  return true
}

type Taken = { lease: Lease | undefined; until: number }

async function takeLease(run: TargetRun): Promise<Taken> {
  const { store, owner, target, tools } = run
  const milliseconds = tools.lease
  // From before the request: the database counts from later on.
  const until = performance.now() + milliseconds
  const key = progressKey(target)
  return { until, lease: await store.takeLease({ key, owner, milliseconds }) }
}

/** Until the work is done; ends it when the lease is lost or has run out. */
async function prolong(
  run: TargetRun,
  held: { lease: Lease; until: number },
  { done, lose }: { done: AbortSignal; lose: () => void },
): Promise<void> {
  while (!done.aborted) {
    await wait(run.tools.lease / 3, done)
    if (done.aborted) return
    // A store that does not answer may do so before the lease runs out.
    const taken = await takeLease(run).catch(() => held)
    if (taken.lease?.fence !== held.lease.fence) return lose()
    held.until = taken.until
    if (performance.now() > held.until) return lose()
  }
}
