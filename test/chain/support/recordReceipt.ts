import type { Hash } from 'viem'
import { getBlockTimes } from '../../../src/chain/state/getBlockTimes.js'
import { getReceipts } from '../../../src/chain/state/getReceipt.js'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { clientOf } from '../../../src/orders/evidence/clientOf.js'
import { writeChanges } from '../../../src/orders/model/changes.js'
import { loadOrders } from '../../../src/orders/model/loadOrders.js'
import { proofRecordOf } from '../../../src/orders/model/proofRecordOf.js'
import {
  type Evidence,
  settleOrder,
} from '../../../src/orders/model/settleOrder.js'
import { destinationOf } from './watching.js'

/**
 * Reads the receipt of a transaction, and hands what writes it on record as a
 * submitter does, now or when its block is gone again.
 */
export async function recordReceipt(
  context: OrdersContext,
  id: string,
  hash: Hash,
): Promise<() => Promise<void>> {
  const client = clientOf(context, destinationOf(context))
  const [receipt] = await getReceipts(client, [hash])
  if (!receipt) throw new Error(`no receipt of ${hash}`)
  const { blockNumber, blockHash, transactionHash } = receipt
  const times = await getBlockTimes(client, [blockNumber])
  const { timestamp = 0n } = times.get(blockNumber) ?? {}
  return () =>
    context.store.write(async (tables) => {
      const stored = (await loadOrders(tables, { ids: [id] })).get(id)
      if (!stored) throw new Error(`no order ${id}`)
      const proof = proofRecordOf(context, receipt, stored, timestamp)
      const evidence: Evidence = proof
        ? { kind: proof.kind === 'cancel' ? 'cancel' : 'capture', proof }
        : { kind: 'consumed', transactionHash, blockNumber, blockHash }
      const changes = settleOrder(stored, evidence, context.now())
      await writeChanges(tables, changes, context.now())
    })
}
