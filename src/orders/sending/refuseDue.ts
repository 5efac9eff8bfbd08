import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { OrderReason } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { putAside } from '../loop/putAside.js'
import { apply, type Input, rulesOf } from '../model/apply.js'
import { writeChanges } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { conflictsOf } from '../model/conflictsOf.js'
import { findRecorded, givenTo, straysOf } from '../model/findStrays.js'
import { kindOf } from '../model/kindOf.js'
import { loadOrders } from '../model/loadOrders.js'
import type { Evidence } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { againAt } from './planSending.js'

/**
 * A due order that is not sent, and why. Without a reason, there is nothing
 * left to send.
 */
export type DueRefusal = {
  stored: StoredOrder
  reason: OrderReason | undefined
  /**
   * Set if a transaction that someone else sent has already decided the order.
   */
  evidence?: Evidence | undefined
}

/**
 * Reasons that follow from the stored order alone, without an answer of the
 * node.
 */
const ownReasons: readonly OrderReason[] = [
  'otherPayment',
  'sealBroken',
  'wrongSubmitter',
]

/**
 * True when an order may be refused now. The node must give the same reason at
 * two polls in a row, because a single answer may be wrong.
 */
export function isCertain(
  { orders }: SubmitterState,
  { stored, reason }: DueRefusal,
): boolean {
  return (
    reason === undefined ||
    ownReasons.includes(reason) ||
    orders.confirmDoubt(stored.order.id, reason)
  )
}

/**
 * If the payment nonce was used, searches for the transaction that used it,
 * because it may have paid the order.
 */
async function explainRefusal(
  { reader, aside, kinds }: SubmitterState,
  refusal: DueRefusal,
): Promise<DueRefusal | undefined> {
  if (refusal.reason !== 'consumed') return refusal
  const { stored } = refusal
  const { id } = stored.order
  try {
    const evidence = await findEvidence(reader, { ...stored, kinds })
    if (evidence) return { ...refusal, evidence }
    // The payer of a permit can end it without a log. Until a final block shows
    // that, there is no evidence.
    if (kindOf({ kinds }, stored.order).permit) return refusal
    throw new NodeAnswerError({
      method: 'eth_call',
      problem: 'contradicts an earlier answer about a payment nonce',
    })
  } catch (error) {
    // This order is tried again later. The rest are refused now.
    putAside(aside, id, error, id)
    return undefined
  }
}

/** Stores why orders are not sent. */
export async function refuseDue(
  context: OrdersContext,
  submitter: SubmitterState,
  refused: readonly DueRefusal[],
  now: bigint,
): Promise<void> {
  if (refused.length === 0) return
  const explained = await Promise.all(
    refused.map((refusal) => explainRefusal(submitter, refusal)),
  )
  const refusals = explained.filter((one) => one !== undefined)
  for (const { stored } of refusals) {
    submitter.aside.clear(stored.order.id)
    submitter.batches.forget(stored.order.id)
  }
  const rules = rulesOf(context)
  const byId = new Map(
    refusals.map((one) => {
      const { stored, reason } = one
      const again =
        reason && againAt(submitter, stored, reason, now, context.policy)
      return [stored.order.id, { ...one, again: again || undefined }]
    }),
  )
  submitter.orders.dropPauses(now)
  if (byId.size === 0) return
  await writeAgain(
    context,
    async (tables) => {
      const ids = [...byId.keys()]
      const collected = collectChanges(await loadOrders(tables, { ids }))
      const recorded = await findRecorded(
        tables,
        [...byId.values()].flatMap(({ evidence }) => evidence ?? []),
      )
      const strays = straysOf(recorded)
      const findConflict = conflictsOf(recorded)
      for (const [id, { stored: judged, reason, evidence, again }] of byId) {
        const stored = collected.find(id)
        // Skip orders that changed meanwhile. If they are still due, the next
        // poll checks them again.
        if (stored?.order.version !== judged.order.version) continue
        const proofs = [...stored.proofs, ...strays, ...givenTo(id, recorded)]
        const conflict = findConflict(id, evidence)
        if (conflict) submitter.aside.put(id, conflict, id)
        else if (evidence)
          collected.add(apply({ ...stored, proofs }, evidence, rules))
        else {
          const input: Input = reason
            ? { kind: 'refused', reason, again }
            : { kind: 'nothingDue' }
          collected.add(apply(stored, input, rules))
        }
      }
      await writeChanges(tables, collected.close(), rules.at)
    },
    { lease: submitter.lease },
  )
}
