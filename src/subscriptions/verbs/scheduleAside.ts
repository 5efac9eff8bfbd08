import {
  type Aside,
  type OrdersContext,
  openAside,
} from '../../orders/engine.js'
import { destinationKey } from '../../store/destinationKey.js'
import type { Destination, SubscriptionRecord } from '../../store/types.js'

/** Name of a whole failed pass over the schedules of a destination. */
export const wholeLook = 'schedule'

/** Name of the failed search for the revocation of a subscription. */
export function revocationOf({ id }: Pick<SubscriptionRecord, 'id'>): string {
  return `revocation ${id}`
}

/** Key under which `health` finds failures of a destination's schedules. */
export function scheduleKey(destination: Destination): string {
  return destinationKey('schedule', destination)
}

/** Opens an empty list of failed work that waits for a retry. */
export function openScheduleAside(
  context: OrdersContext,
  destination: Destination,
): Aside {
  return openAside(context, {
    key: scheduleKey(destination),
    observed: 'schedule.failed',
    about: destination,
  })
}
