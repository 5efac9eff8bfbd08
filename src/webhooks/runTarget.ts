import { startLoop } from '../core/loop.js'
import { idle, type TrackedLoop } from '../core/untilIdle.js'
import { wait } from '../core/wait.js'
import { deliverEvents } from './deliverEvents.js'
import { observeStop } from './observeTarget.js'
import type { TargetRun } from './targets/types.js'
import { underLease } from './underLease.js'

/**
 * Delivers to one target, one process at a time, until the signal aborts or the
 * receiver answers 410.
 */
export async function runTarget(run: TargetRun): Promise<void> {
  const { signal, store, target, observe, tools, tell } = run
  let isGone = false
  // Another process delivers, or it died.
  const elsewhere: TrackedLoop = {
    state: () => ({
      nextLook: performance.now() + tools.lease,
      isIdle: true,
    }),
    wake: () => undefined,
  }
  const delivering = startLoop(
    {
      look: async () => {
        await store.open()
        const wasFree = await underLease(run, async (hold) => {
          isGone = await deliverEvents(run, hold)
        })
        if (!wasFree) tell(elsewhere)
        return wasFree ? 0 : tools.standby
      },
      failed: (error, failures) => {
        observeStop(run, error)
        tell({
          state: () => ({ nextLook: delivering.nextLook(), isIdle: false }),
          wake: () => undefined,
        })
        return tools.pause(failures)
      },
      isOver: () => isGone,
    },
    signal,
  )
  await delivering.ended
  tell({ state: () => idle, wake: () => undefined })
  const attributes = { target: target.name }
  if (isGone) observe({ name: 'webhook.gone', attributes })
  // Keeps waiting even after a 410. If the process has nothing else to do, it
  // would otherwise end, be restarted by its supervisor, and send again.
  while (!signal.aborted) await wait(tools.lease, signal)
}
