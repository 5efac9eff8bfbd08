import { endOnAbort } from '../../chain/rpc/endOnAbort.js'
import { endingContext } from '../evidence/endingContext.js'
import type { OrdersContext } from '../model/types.js'

/**
 * Does work that ends when the context's signal aborts: it drops open requests
 * to nodes and sends no more. A write that has begun is completed.
 *
 * @throws the signal's reason as soon as it aborts.
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
