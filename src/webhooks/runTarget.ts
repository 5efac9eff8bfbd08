import { startLoop } from '../core/loop.js'
import { wait } from '../core/wait.js'
import { deliverEvents } from './deliverEvents.js'
import { observeStop } from './observeTarget.js'
import type { TargetRun } from './targets/types.js'
import { underLease } from './underLease.js'

/**
 * Delivers to one target while no other process does, until the signal aborts
 * or the receiver answers that it is gone.
 */
export async function runTarget(run: TargetRun): Promise<void> {
  const { signal, store, target, observe, tools } = run
  let isGone = false
  const delivering = startLoop(
    {
      look: async () => {
        await store.open()
        const wasFree = await underLease(run, async (hold) => {
          isGone = await deliverEvents(run, hold)
        })
        return wasFree ? 0 : tools.standby
      },
      failed: (error, failures) => {
        observeStop(run, error)
        return tools.pause(failures)
      },
      isOver: () => isGone,
    },
    signal,
  )
  await delivering.ended
  const attributes = { target: target.name }
  if (isGone) observe({ name: 'webhook.gone', attributes })
  // After a 410: a process without other work would end and be restarted.
  while (!signal.aborted) await wait(tools.lease, signal)
}
