import { CountersignError } from '../../core/CountersignError.js'
import type { Observation, OrdersContext } from './types.js'

/** Tells who watches that some work failed; what is not ours may quote anything. */
export function observeFailure(
  { observe }: Pick<OrdersContext, 'observe'>,
  name: `${string}.failed`,
  { about, error }: { about: Observation['attributes']; error: unknown },
): void {
  const { name: kind, message } = Object(error)
  const words = error instanceof CountersignError ? String(message) : ''
  observe({ name, attributes: { ...about, error: String(kind), words } })
}
