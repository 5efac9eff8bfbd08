import { StaleRecordError } from './errors.js'
import type { Lease, PaymentStore, StoreWriter } from './types.js'

const mostTries = 5

/**
 * Writes one unit of work, and all of it again, reads included, when a row was
 * written in between.
 *
 * @throws {@link StaleRecordError} when that happens five times in a row.
 */
export async function writeAgain<result>(
  { store }: { store: PaymentStore },
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
