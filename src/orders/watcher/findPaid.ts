import { readTransfers } from '../evidence/readPaymentLogs.js'
import type { OrdersContext } from '../model/types.js'
import type { Watch } from './checkReorg.js'
import { findStart } from './findStart.js'
import { settleLogs } from './settleLogs.js'

/**
 * Writes what reached a destination since its cursor and is not on record. Drafts
 * without a payer have no other way to be known as paid: nobody can say whose
 * nonce to ask for.
 *
 * The cursor stays: what else happened is left to a reconciliation.
 *
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * the node refuses, does not answer, or not with one whole chain.
 */
export async function findPaid(
  context: OrdersContext,
  watch: Watch,
): Promise<void> {
  const { client, destination, heads } = watch
  const { fromBlock } = await findStart(context, { ...watch, isDeep: false })
  const range = { fromBlock, toBlock: heads.latest.number }
  const transfers = await readTransfers(context, client, destination, range)
  await settleLogs(context, watch, { transfers, spent: [] })
}
