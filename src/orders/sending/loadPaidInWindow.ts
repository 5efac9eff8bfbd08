import type { OrdersContext } from '../context/types.js'
import type { StoredOrder } from '../model/storedOrder.js'

/** Most charges of a subscription to read; a period rarely has more. */
const mostRead = 100

/**
 * Adds up, in token units, the captured charges of a subscription within the
 * window of one charge.
 */
export function loadPaidInWindow(
  { store }: Pick<OrdersContext, 'store'>,
  { order, attempt }: Pick<StoredOrder, 'order' | 'attempt'>,
): Promise<bigint> {
  const { parentId } = order
  if (parentId === undefined) return Promise.resolve(0n)
  return store.read(async (tables) => {
    const charges = await tables.orders.find({
      chargesOf: parentId,
      limit: mostRead,
    })
    const orderIds = charges
      .filter(({ state }) => state === 'captured')
      .map(({ id }) => id)
    if (orderIds.length === 0) return 0n
    const proofs = await tables.proofs.find({ orderIds })
    return proofs
      .filter(
        ({ kind, removed, blockTime }) =>
          kind === 'capture' &&
          !removed &&
          blockTime > attempt.validAfter &&
          blockTime < attempt.validBefore,
      )
      .reduce((sum, { value }) => sum + value, 0n)
  })
}
