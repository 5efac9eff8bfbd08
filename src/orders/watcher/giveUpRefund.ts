import type { Lease, OrderReason } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { applyTaken, rulesOf } from '../model/apply.js'
import { writeChanges } from '../model/changes.js'
import { loadRefund } from '../model/loadRefund.js'
import type { RefundRow } from '../model/storedOrder.js'

/**
 * Marks a refund that was never signed as failed. Its amount can then be
 * refunded again, also by the same `refundId`. Does nothing if the refund
 * changed since it was loaded.
 */
export async function giveUpRefund(
  context: OrdersContext,
  { id, version }: Pick<RefundRow, 'id' | 'version'>,
  { reason, lease }: { reason: OrderReason; lease: Lease | undefined },
): Promise<void> {
  const rules = rulesOf(context)
  await writeAgain(
    context,
    async (tables) => {
      const current = await loadRefund(tables, id)
      if (current?.row.version !== version) return
      const changes = applyTaken(
        current.stored,
        { kind: 'giveUp', reason },
        rules,
      )
      await writeChanges(tables, changes, rules.at)
    },
    { lease },
  )
}
