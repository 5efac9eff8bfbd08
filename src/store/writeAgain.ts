import { keepTrying } from '../core/keepTrying.js'
import { DuplicateRecordError, StaleRecordError } from './errors.js'
import type { Lease, PaymentStore, StoreWriter } from './types.js'

const mostTries = 5

/**
 * Runs `work`. Runs it again from its start if another process changed a row
 * that `work` had read.
 *
 * @throws {@link StaleRecordError} when that happens five times in a row.
 */
export function retryStale<result>(
  work: () => Promise<result>,
): Promise<result> {
  return keepTrying(work, (error, failures) =>
    error instanceof StaleRecordError && failures < mostTries ? 0 : undefined,
  )
}

/**
 * Runs one transaction of the store. Runs all of it again, reads included, if
 * another process changed a row that it had read.
 *
 * @throws {@link StaleRecordError} when that happens five times in a row.
 */
export function writeAgain<result>(
  { store }: { store: PaymentStore },
  work: (tables: StoreWriter) => Promise<result>,
  options?: { lease?: Lease | undefined },
): Promise<result> {
  return retryStale(() => store.write(work, options))
}

/**
 * Like {@link writeAgain}, for `work` that inserts rows. Runs it once more if
 * another process inserts one of them at the same time: it then finds that row.
 */
export async function writeNew<result>(
  context: { store: PaymentStore },
  work: (tables: StoreWriter) => Promise<result>,
  options?: { lease?: Lease | undefined },
): Promise<result> {
  const write = () => writeAgain(context, work, options)
  try {
    return await write()
  } catch (error) {
    if (error instanceof DuplicateRecordError) return write()
    throw error
  }
}
