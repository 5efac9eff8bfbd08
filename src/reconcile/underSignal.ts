import { endingContext } from '../records/endingContext.js'
import type { OrdersContext } from '../records/types.js'
import { endOnAbort } from '../rpc/endOnAbort.js'

/**
 * Does work that ends with the context's signal: what nodes are asked ends with
 * it, and nothing more is asked of them. A unit of work that is being written
 * is written whole.
 *
 * @throws the signal's own reason as soon as it aborts.
 */
export async function underSignal<result>(
  context: OrdersContext,
  work: (context: OrdersContext) => Promise<result>,
): Promise<result> {
  const { signal } = context
  if (!signal) return work(context)
  signal.throwIfAborted()
  return endOnAbort(work(endingContext(context, signal)), signal)
}
