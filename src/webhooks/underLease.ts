import { wait } from '../core/wait.js'
import type { Lease } from '../store/types.js'
import { progressKey } from './progress.js'
import type { TargetRun } from './targets/types.js'

/** The lease of a target while it is held. */
export type LeaseHold = {
  lease: Lease
  /** Aborts when the run ends or the lease is lost. */
  over: AbortSignal
  lose(): void
  /** True when nobody else can take the lease for so many milliseconds. */
  lasts(milliseconds: number): boolean
}

/**
 * Takes the lease of a target, runs the work and prolongs the lease meanwhile.
 *
 * @returns false when another process holds the lease.
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
  // Counted from before the request, so that it ends before the real lease.
  const until = performance.now() + milliseconds
  const key = progressKey(target)
  return { until, lease: await store.takeLease({ key, owner, milliseconds }) }
}

/**
 * Prolongs the lease until the work is done. Ends the work when the lease is
 * lost or has run out.
 */
async function prolong(
  run: TargetRun,
  held: { lease: Lease; until: number },
  { done, lose }: { done: AbortSignal; lose: () => void },
): Promise<void> {
  while (!done.aborted) {
    await wait(run.tools.lease / 3, done)
    if (done.aborted) return
    // If the store fails, it may answer again before the lease runs out.
    const taken = await takeLease(run).catch(() => held)
    if (taken.lease?.fence !== held.lease.fence) return lose()
    held.until = taken.until
    if (performance.now() > held.until) return lose()
  }
}
