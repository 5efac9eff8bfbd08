import type { Observation } from '../core/observeFailure.js'
import { observeFailure } from '../core/observeFailure.js'
import type { OrderEvent } from '../orders/index.js'
import type { TargetRun } from './targets/types.js'

/**
 * Returns the facts about an event that `observe` gets. Never includes the
 * body.
 */
export function eventFacts(
  { target: { name } }: Pick<TargetRun, 'target'>,
  { type, orderId }: OrderEvent,
): Observation['attributes'] {
  return { target: name, type, ...(orderId !== undefined && { orderId }) }
}

/**
 * Reports that deliveries stopped for a reason on this side, such as the
 * database. With `event`, only the deliveries of its order stopped; otherwise
 * all to the target.
 */
export function observeStop(
  run: TargetRun,
  error: unknown,
  event?: OrderEvent | undefined,
): void {
  const about = event ? eventFacts(run, event) : { target: run.target.name }
  observeFailure(run, 'outbox.failed', { about, error })
}
