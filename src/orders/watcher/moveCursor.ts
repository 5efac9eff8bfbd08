import type { OrdersContext } from '../model/types.js'
import type { Watch } from './checkReorg.js'
import {
  type DestinationCursor,
  destinationKey,
  encodeCursor,
  readCursor,
} from './watchState.js'

/**
 * Keeps how far a destination is reconciled, for whoever reads on from there. Where
 * another process was faster, and has read further, its cursor stays.
 *
 * @param cursors.before the one that was read from.
 * @throws {@link LeaseLostError} when the watch's lease is someone else's.
 */
export async function moveCursor(
  { store }: Pick<OrdersContext, 'store'>,
  { destination, lease }: Pick<Watch, 'destination' | 'lease'>,
  {
    before,
    after,
  }: { before: DestinationCursor | undefined; after: DestinationCursor },
): Promise<void> {
  const key = destinationKey('cursor', destination)
  await store.write(
    async (tables) => {
      await tables.lock(key)
      const current = await readCursor(tables, destination)
      const isOthers = current && current.last.hash !== before?.last.hash
      const isFurther = isOthers && current.last.number >= after.last.number
      const next = isFurther ? current : after
      const from =
        current && current.from < after.from ? current.from : after.from
      if (isFurther && from === current.from) return
      await tables.setValue(key, encodeCursor({ ...next, from }))
    },
    { lease },
  )
}
