import type { OrdersContext } from '../../orders/model/types.js'

/** Milliseconds between two looks for notes whose time is over. */
const lookEvery = 60_000n

/** Removes notes whose time is over, now and then, on the side. */
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
      // The next look removes them.
      .catch(() => undefined)
  }
}
