import { observeFailure } from '../orders/model/observeFailure.js'
import type { OrderEvent } from '../orders/model/types.js'
import { eventFacts } from './eventFacts.js'
import type { TargetRun } from './targets/types.js'

/**
 * Reports that deliveries stopped for a reason other than the receiver: all of
 * a target, or those of one order.
 */
export function observeStop(
  run: TargetRun,
  error: unknown,
  event?: OrderEvent | undefined,
): void {
  const about = event ? eventFacts(run, event) : { target: run.target.name }
  observeFailure(run, 'outbox.failed', { about, error })
}
