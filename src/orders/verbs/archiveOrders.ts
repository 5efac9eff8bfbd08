import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { nextTurn } from '../../core/wait.js'
import type { OrdersContext } from '../context/types.js'

/** Parameters of `archive`: which orders to move, and when to stop. */
export type ArchiveParameters = {
  /** Moves orders that were drafted more than so many seconds ago. */
  olderThan: number
  /** Ends `archive` after the orders that it is moving. */
  signal?: AbortSignal | undefined
}

/** Result of `archive`. */
export type ArchiveReport = {
  /** Number of orders that were moved, refunds and charges included. */
  archived: number
}

/**
 * Number of orders that one database transaction moves. Writers of SQLite wait
 * for it.
 */
const pageSize = 100

/** Implements `archive` of `Orders`. */
export async function archiveOrders(
  context: OrdersContext,
  parameters: ArchiveParameters,
): Promise<ArchiveReport> {
  checkMembers(parameters, ['olderThan', 'signal'])
  const { olderThan } = parameters
  if (!Number.isSafeInteger(olderThan) || olderThan <= 0)
    throw new InvalidFieldError(
      'olderThan',
      shown(olderThan),
      'a positive integer: seconds',
    )
  const { store, destinations: over, signal } = context
  let archived = 0
  if (!store.archive) return { archived }
  const before = context.now() / 1000n - BigInt(olderThan)
  let after: bigint | undefined
  do {
    signal?.throwIfAborted()
    const query = { over, before, after, limit: pageSize }
    const { moved, last } = await store.archive(query)
    archived += moved
    after = last
    await nextTurn()
  } while (after !== undefined)
  return { archived }
}
