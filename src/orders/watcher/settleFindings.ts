import type { Hash } from 'viem'
import type { ProofRecord, StoreWriter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { apply, type Rules, rulesOf } from '../model/apply.js'
import { noChanges } from '../model/changes.js'
import type { ChangeSet, Step } from '../model/collectChanges.js'
import { conflictsOf } from '../model/conflictsOf.js'
import { lastSecondOf } from '../model/endsOf.js'
import { eraseFinal } from '../model/eraseSecrets.js'
import type { ProofConflictError } from '../model/errors.js'
import { findRecorded, givenTo, straysOf } from '../model/findStrays.js'
import type { Evidence } from '../model/settleOrder.js'
import { atAttempt } from '../model/storedOrder.js'

/** What the chain shows about one attempt of an order. */
export type Finding = { orderId: string; attempt: number; evidence: Evidence }

/**
 * Applies findings to orders, and adds the changed rows to the caller's
 * database transaction. Idempotent. Erases the credentials of orders that a
 * final block settled.
 *
 * @throws {@link ProofConflictError} when a payment is stored as that of
 * another order, unless `onConflict` takes the error.
 */
export async function settleFindings(
  context: Pick<OrdersContext, 'now' | 'policy'>,
  tables: StoreWriter,
  {
    collected,
    findings,
    onConflict = throwConflict,
  }: {
    collected: ChangeSet
    findings: readonly Finding[]
    /**
     * Called instead of throwing for a finding that is left out, so that the
     * other findings are written.
     */
    onConflict?:
      | ((orderId: string, error: ProofConflictError) => void)
      | undefined
  },
): Promise<void> {
  const rules = rulesOf(context)
  const recorded = await findRecorded(
    tables,
    findings.map(({ evidence }) => evidence),
  )
  const findConflict = conflictsOf(recorded)
  const strays = straysOf(recorded)
  for (const finding of findings) {
    const { orderId, evidence } = finding
    const conflict = findConflict(orderId, evidence)
    if (conflict) onConflict(orderId, conflict)
    else {
      const known = [...strays, ...givenTo(orderId, recorded)]
      collected.apply(orderId, [stepOf(finding, known, rules)])
    }
  }
  const ids = [...new Set(findings.map(({ orderId }) => orderId))]
  // Fulfil only orders whose block the node has just shown. The block of any
  // other stored payment may have been replaced by a reorg.
  const shown = new Set(findings.flatMap(({ evidence }) => hashOf(evidence)))
  for (const orderId of ids)
    collected.apply(orderId, [fulfilAtOnce(context.policy, rules, shown)])
  await eraseFinal(tables, collected, ids)
}

function throwConflict(_orderId: string, error: ProofConflictError): never {
  throw error
}

function stepOf(
  { attempt: number, evidence }: Finding,
  known: readonly ProofRecord[],
  rules: Rules,
): Step {
  return (newest) => {
    const stored = atAttempt(newest, number)
    if (!stored) return noChanges()
    const { order, attempt } = stored
    // A payment with a longer window was stored meanwhile, so the order has not
    // expired.
    const isMoot =
      evidence.kind === 'expired' && evidence.blockTime < lastSecondOf(attempt)
    if (isMoot) return noChanges()
    const proofs = [...stored.proofs, ...known]
    return apply({ order, attempt, proofs }, evidence, rules)
  }
}

const hashOf = (evidence: Evidence): Hash[] =>
  evidence.kind === 'capture' ? [evidence.proof.blockHash] : []

/**
 * Adds the `fulfil` event to a captured order at once if the policy fulfils at
 * `included`.
 * @param shown hashes of the blocks that were just found in the chain. If
 * absent, the blocks of all orders were.
 */
export function fulfilAtOnce(
  { fulfilAt }: OrdersContext['policy'],
  rules: Rules,
  shown?: ReadonlySet<Hash> | undefined,
): Step {
  return (stored) => {
    const { order, proofs } = stored
    if (fulfilAt !== 'included' || order.state !== 'captured')
      return noChanges()
    const proof = proofs.find(
      ({ kind, removed, transactionHash }) =>
        kind === 'capture' && !removed && transactionHash === order.settledHash,
    )
    if (proof && shown && !shown.has(proof.blockHash)) return noChanges()
    const finality = order.finality ?? 'included'
    return apply(stored, { kind: 'final', proof, finality, fulfilAt }, rules)
  }
}
