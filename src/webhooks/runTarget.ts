import { observeFailure } from '../ledger/observeFailure.js'
import { wait } from '../reads/wait.js'
import { deliverEvents } from './deliverEvents.js'
import type { TargetRun } from './types.js'
import { underLease } from './underLease.js'

/** Delivers to one target whenever no other process does, until told to stop. */
export async function runTarget(run: TargetRun): Promise<void> {
  const { signal, store, target, tools } = run
  let failures = 0
  while (!signal.aborted) {
    try {
      await store.open()
      const wasFree = await underLease(run, (hold) => deliverEvents(run, hold))
      failures = 0
      if (!wasFree) await wait(tools.standby, signal)
    } catch (error) {
      const about = { target: target.name }
      observeFailure(run, 'outbox.failed', { about, error })
      await wait(tools.pause(++failures), signal)
    }
  }
}
