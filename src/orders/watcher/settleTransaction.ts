import type { Client, Hash } from 'viem'
import type { StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { getProof } from '../evidence/getProof.js'
import { writeChanges } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { settleFindings } from './settleFindings.js'

/**
 * Settles an order by the transaction that captured it. Returns false if that
 * transaction proves no capture, or the order is captured already.
 *
 * Reads only this transaction. A search through the logs would also read other
 * payments, and fail if one of them cannot be read.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 * @throws {@link ProofConflictError} when the transaction pays another order.
 */
export async function settleTransaction(
  context: OrdersContext,
  client: Client,
  {
    stored,
    transactionHash,
    insert = async () => undefined,
  }: {
    stored: Pick<StoredOrder, 'order' | 'attempt'>
    transactionHash: Hash
    /** For a new order: inserts it first, in the same database transaction. */
    insert?: ((tables: StoreWriter) => Promise<void>) | undefined
  },
): Promise<boolean> {
  const { kinds } = context
  const evidence = await getProof(client, { ...stored, kinds }, transactionHash)
  if (evidence?.kind !== 'capture') return false
  return writeAgain(context, async (tables) => {
    await insert(tables)
    const { id: orderId, attempt } = stored.order
    const loaded = await loadOrders(tables, { ids: [orderId] })
    if (loaded.get(orderId)?.order.state === 'captured') return false
    const collected = collectChanges(loaded)
    const findings = [{ orderId, attempt, evidence }]
    await settleFindings(context, tables, { collected, findings })
    await writeChanges(tables, collected.close(), context.now())
    return true
  })
}
