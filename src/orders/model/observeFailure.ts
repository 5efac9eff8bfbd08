import { CountersignError } from '../../core/CountersignError.js'
import type { Observation, OrdersContext } from './types.js'

/**
 * Reports failed work to `observe`. Leaves out the message of a foreign error,
 * which could quote a secret.
 */
export function observeFailure(
  { observe }: Pick<OrdersContext, 'observe'>,
  name: `${string}.failed`,
  { about, error }: { about: Observation['attributes']; error: unknown },
): void {
  const { name: kind, message } = Object(error)
  const words = error instanceof CountersignError ? String(message) : ''
  observe({ name, attributes: { ...about, error: String(kind), words } })
}
