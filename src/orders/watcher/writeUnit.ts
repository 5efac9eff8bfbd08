import type { Lease, StoreWriter } from '../../store/types.js'
import { writeNew } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { type Changes, writeChanges } from '../model/changes.js'

/**
 * Runs a database transaction. Repeats it if another process wrote the same
 * rows, or added the same proof, meanwhile.
 */
export async function writeUnit(
  context: OrdersContext,
  work: (tables: StoreWriter) => Promise<Changes>,
  { lease }: { lease?: Lease | undefined },
): Promise<Changes> {
  return writeNew(
    context,
    async (tables) => {
      const changes = await work(tables)
      await writeChanges(tables, changes, context.now())
      return changes
    },
    { lease },
  )
}
