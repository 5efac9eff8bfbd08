import type { Observation, OrderEvent } from '../orders/model/types.js'
import type { TargetRun } from './targets/types.js'

/** What is observed of an event: never its body. */
export function eventFacts(
  { target: { name } }: Pick<TargetRun, 'target'>,
  { type, orderId }: OrderEvent,
): Observation['attributes'] {
  return { target: name, type, ...(orderId !== undefined && { orderId }) }
}
