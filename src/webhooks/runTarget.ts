import { wait } from '../core/wait.js'
import { deliverEvents } from './deliverEvents.js'
import { observeStop } from './observeTarget.js'
import type { TargetRun } from './targets/types.js'
import { underLease } from './underLease.js'

/**
 * Delivers to one target whenever no other process does, until told to stop or
 * the receiver says that it is gone.
 */
export async function runTarget(run: TargetRun): Promise<void> {
  const { signal, store, target, observe, tools } = run
  let failures = 0
  let isGone = false
  while (!signal.aborted && !isGone) {
    try {
      await store.open()
      const wasFree = await underLease(run, async (hold) => {
        isGone = await deliverEvents(run, hold)
      })
      failures = 0
      if (!wasFree) await wait(tools.standby, signal)
    } catch (error) {
      observeStop(run, error)
      await wait(tools.pause(++failures), signal)
    }
  }
  const attributes = { target: target.name }
  if (isGone) observe({ name: 'webhook.gone', attributes })
  // Else a process with no other work would end, and be started to ask again.
  while (!signal.aborted) await wait(tools.lease, signal)
}
