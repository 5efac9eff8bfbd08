import type { Observation } from '../core/observeFailure.js'
import { observeFailure } from '../core/observeFailure.js'
import type { OrderEvent } from '../orders/index.js'
import type { TargetRun } from './targets/types.js'

/** Returns the facts of an event that may be observed: never its body. */
export function eventFacts(
  { target: { name } }: Pick<TargetRun, 'target'>,
  { type, orderId }: OrderEvent,
): Observation['attributes'] {
  return { target: name, type, ...(orderId !== undefined && { orderId }) }
}

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
