import { StaleRecordError } from '../../store/errors.js'
import type { Lease, StoreWriter } from '../../store/types.js'
import type { OrdersContext } from './types.js'

const mostTries = 5

/**
 * Writes one unit of work, and all of it again, reads included, when a row was
 * written in between.
 *
 * @throws {@link StaleRecordError} when that happens five times in a row.
 */
export async function writeAgain<result>(
  { store }: Pick<OrdersContext, 'store'>,
  work: (tables: StoreWriter) => Promise<result>,
  options?: { lease?: Lease | undefined },
): Promise<result> {
  for (let tries = 1; ; tries++)
    try {
      return await store.write(work, options)
    } catch (error) {
      if (!(error instanceof StaleRecordError) || tries === mostTries)
        throw error
    }
}
