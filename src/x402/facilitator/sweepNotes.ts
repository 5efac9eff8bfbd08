import type { OrdersContext } from '../../orders/model/types.js'

/** Milliseconds between two removals of expired notes. */
const lookEvery = 60_000n

/**
 * Returns a function that removes expired notes in the background, at most once
 * a minute.
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
    store
      .write(async ({ notes }) => {
        const found = await notes.find({ over, limit: 100 })
        if (found.length > 0) await notes.remove(found.map(({ key }) => key))
      })
      // The next call removes them.
      .catch(() => undefined)
  }
}
