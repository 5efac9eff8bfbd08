import type { OrdersContext } from '../../orders/engine.js'
import { removeOld } from '../gate/removeOld.js'

/** Milliseconds between two removals of expired notes. */
const lookEvery = 60_000n

/**
 * Returns a function that removes expired records of payments, which gates and
 * facilitators keep in the store. It works in the background, at most once a
 * minute.
 */
export function sweepNotes({
  store,
  now,
}: Pick<OrdersContext, 'store' | 'now'>): () => void {
  let last = now()
  return () => {
    const over = now()
    if (over - last < lookEvery) return
    last = over
    // If the removal fails, the next one removes the same records.
    removeOld({ store, now }).catch(() => undefined)
  }
}
