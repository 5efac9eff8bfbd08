import type { OrderState, ProofRecord, StoreWriter } from '../../store/types.js'
import { type Changes, joinChanges, noChanges } from '../model/changes.js'
import { lastSecondOf } from '../model/endsOf.js'
import { readFiles, type Step, takeSteps } from '../model/orderFiles.js'
import { raiseFinality } from '../model/raiseFinality.js'
import { type Evidence, settleOrder } from '../model/settleOrder.js'
import type { OrdersContext } from '../model/types.js'

/** What was found about one attempt of an order. */
export type Finding = { orderId: string; attempt: number; evidence: Evidence }

/** Where the end of a window still means something. */
const undecided: readonly OrderState[] = [
  'drafted',
  'stored',
  'capturing',
  'canceling',
  'voided',
  'expired',
]

/**
 * What findings change, by the rows of this unit of work. Found again, they
 * change nothing.
 */
export async function settleFindings(
  { now, policy }: Pick<OrdersContext, 'now' | 'policy'>,
  tables: StoreWriter,
  findings: readonly Finding[],
  further: readonly Step[] = [],
): Promise<Changes> {
  const at = now()
  const files = await readFiles(
    tables,
    findings.map(({ orderId }) => orderId),
  )
  const strays = await readStrays(tables, findings)
  const changed = [...files.values()].map((file) => {
    const steps = findings
      .filter(({ orderId }) => orderId === file.order.id)
      .map((finding) => stepOf(finding, strays, at))
    return takeSteps(file, [...steps, fulfilAtOnce(policy, at), ...further])
  })
  return joinChanges(changed)
}

/** Payments on record without an order, which may turn out to have one. */
async function readStrays(
  tables: StoreWriter,
  findings: readonly Finding[],
): Promise<ProofRecord[]> {
  const found = findings.flatMap(({ evidence }) =>
    evidence.kind === 'capture' ? [evidence.proof] : [],
  )
  const [first] = found
  if (!first) return []
  const hashes = [
    ...new Set(found.map(({ transactionHash }) => transactionHash)),
  ]
  const { chainId } = first
  const rows = await tables.proofs.find({ hashes, chainId })
  return rows
    .filter(({ kind }) => kind === 'unmatched')
    .map((row) => ({ ...row, removed: true }))
}

function stepOf(
  { attempt: number, evidence }: Finding,
  strays: readonly ProofRecord[],
  at: bigint,
): Step {
  return ({ order, attempts, proofs: own }) => {
    const proofs = [...own, ...strays]
    const attempt = attempts.find((row) => row.number === number)
    const isMoot =
      evidence.kind === 'expired' &&
      (!undecided.includes(order.state) ||
        // A payment with a longer window came in between.
        (attempt && evidence.blockTime < lastSecondOf(attempt)))
    return !attempt || isMoot
      ? noChanges()
      : settleOrder({ order, attempt, proofs }, evidence, at)
  }
}

/** Where `included` is enough, the proof announces the fulfilment with it. */
export function fulfilAtOnce(
  { fulfilAt }: OrdersContext['policy'],
  at: bigint,
): Step {
  return ({ order, proofs }) => {
    if (fulfilAt !== 'included' || order.state !== 'captured')
      return noChanges()
    const proof = proofs.find(
      ({ kind, removed, transactionHash }) =>
        kind === 'capture' && !removed && transactionHash === order.settledHash,
    )
    const finality = order.finality ?? 'included'
    return raiseFinality(order, proof, { finality, fulfilAt, at })
  }
}
