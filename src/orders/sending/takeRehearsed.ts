import type { BlockHead } from '../../chain/rpc/requestNode.js'
import { encodeCapture } from '../../payments/message/encodeCall.js'
import type { OrdersContext, RehearsedPayment } from '../context/types.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { SubmitterFees } from './feesOf.js'
import type { DueDraft } from './rehearseDue.js'

/**
 * Separates due orders whose payment was accepted at this very block. Accepting
 * simulated their capture, so it need not be simulated again.
 */
export function takeRehearsed(
  { policy, rehearsals }: Pick<OrdersContext, 'policy' | 'rehearsals'>,
  storedOrders: readonly StoredOrder[],
  { head, fees }: { head: BlockHead; fees: SubmitterFees },
): { drafts: DueDraft[]; others: StoredOrder[] } {
  const { maxFee, contractPayers } = policy
  const drafts: DueDraft[] = []
  const others: StoredOrder[] = []
  for (const stored of storedOrders) {
    const { order, attempt } = stored
    const rehearsed = rehearsals.take(order.id)
    const isSame =
      rehearsed !== undefined &&
      order.requested !== 'cancel' &&
      rehearsed.signatureHash === attempt.signatureHash &&
      isOfBlock(rehearsed, head) &&
      (contractPayers === 'accept' || rehearsed.refusesContracts)
    const { gas = 0n } = rehearsed ?? {}
    const isDear = maxFee !== undefined && gas * fees.maxFeePerGas > maxFee
    if (!isSame || isDear) others.push(stored)
    else {
      const { to, data } = encodeCapture(rehearsed.payment)
      drafts.push({ stored, kind: 'capture', call: { to, data }, gas })
    }
  }
  return { drafts, others }
}

function isOfBlock(
  { head }: RehearsedPayment,
  { number, timestamp }: BlockHead,
): boolean {
  return head.number === number && head.timestamp === timestamp
}
