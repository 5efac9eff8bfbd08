import { DuplicateRecordError } from '../../store/errors.js'
import type { Lease, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { type Changes, writeChanges } from '../model/changes.js'
import type { OrdersContext } from '../model/types.js'

/**
 * Runs a database transaction. Repeats it if another process wrote the same
 * rows, or added the same proof, meanwhile.
 */
export async function writeUnit(
  context: OrdersContext,
  work: (tables: StoreWriter) => Promise<Changes>,
  { lease }: { lease?: Lease | undefined },
): Promise<Changes> {
  const write = () =>
    writeAgain(
      context,
      async (tables) => {
        const changes = await work(tables)
        await writeChanges(tables, changes, context.now())
        return changes
      },
      { lease },
    )
  try {
    return await write()
  } catch (error) {
    if (error instanceof DuplicateRecordError) return write()
    throw error
  }
}
