import type { Lease, ProofRecord, StoreWriter } from '../../store/types.js'
import {
  type Changes,
  joinChanges,
  noChanges,
  tellOrder,
} from '../model/changes.js'
import { lastSecondOf } from '../model/endsOf.js'
import {
  readFiles,
  type Step,
  takeSteps,
  type WholeFile,
} from '../model/orderFiles.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import { reopenLast } from '../model/reopenLast.js'
import { settleOrder } from '../model/settleOrder.js'
import type { OrdersContext } from '../model/types.js'
import { unsettleOrder } from '../model/unsettleOrder.js'
import type { Recheck } from './recheckProofs.js'
import { writeUnit } from './writeUnit.js'

/** A proof that is no longer where it was. */
export type Displaced = Extract<
  Recheck<ProofRecord>,
  { verdict: 'moved' | 'gone' }
>

/**
 * Writes what a reorganization did to proofs: where they are now, or what an
 * order is without them.
 *
 * @param options.blockTime of the newest block, Unix seconds.
 */
export function takeBack(
  context: OrdersContext,
  displaced: readonly Displaced[],
  options: { blockTime: bigint; lease?: Lease | undefined },
): Promise<Changes> {
  if (!displaced.length) return Promise.resolve(noChanges())
  return writeUnit(
    context,
    (tables) => displaceProofs(context, tables, displaced, options.blockTime),
    options,
  )
}

async function displaceProofs(
  { now, policy }: OrdersContext,
  tables: StoreWriter,
  displaced: readonly Displaced[],
  blockTime: bigint,
): Promise<Changes> {
  const at = now()
  const ids = displaced.flatMap(({ proof }) => proof.orderId ?? [])
  const files = await readFiles(tables, ids)
  const ofOrders = [...files.values()].map((file) =>
    takeSteps(
      file,
      displaced
        .filter(({ proof }) => proof.orderId === file.order.id)
        .map((one) => displaceProof(one, { at, blockTime, policy })),
    ),
  )
  const others = displaced.filter(({ proof }) => proof.orderId === undefined)
  return joinChanges([...ofOrders, await dropUnmatched(tables, others)])
}

/** Reconciliation finds them again, where they are now. */
async function dropUnmatched(
  tables: StoreWriter,
  displaced: readonly Displaced[],
): Promise<Changes> {
  const [first] = displaced
  if (!first) return noChanges()
  const rows = await tables.proofs.find({
    hashes: displaced.map(({ proof }) => proof.transactionHash),
    chainId: first.proof.chainId,
  })
  const proofs = rows.filter((row) =>
    displaced.some(({ proof }) => isSame(row, proof) && !row.removed),
  )
  return {
    ...noChanges(),
    proofs: proofs.map((row) => ({ ...row, removed: true })),
  }
}

type Facts = Pick<OrdersContext, 'policy'> & { at: bigint; blockTime: bigint }

function displaceProof(displaced: Displaced, facts: Facts): Step {
  return (file) => {
    const { proof } = displaced
    const kept = file.proofs.find((row) => isSame(row, proof) && !row.removed)
    const attempt = file.attempts.find(({ number }) => number === proof.attempt)
    // Someone else noticed it before.
    if (!kept || !attempt) return noChanges()
    const again =
      displaced.verdict === 'moved' &&
      proofRecordOf(
        displaced.receipt,
        { order: file.order, attempt: { ...attempt, payer: proof.payer } },
        displaced.blockTime,
      )
    if (!again) return dropProof(file, kept, facts)
    const kind = again.kind === 'cancel' ? 'cancel' : 'capture'
    const settle: Step = ({ order, proofs }) =>
      settleOrder({ order, attempt, proofs }, { kind, proof: again }, facts.at)
    const isElsewhere = again.logIndex !== kept.logIndex
    return takeSteps(file, isElsewhere ? [settle, removing(kept)] : [settle])
  }
}

function dropProof(file: WholeFile, kept: ProofRecord, facts: Facts): Changes {
  const { order } = file
  if (order.settledHash !== kept.transactionHash)
    return takeSteps(file, [removing(kept), noLongerOverpaid(kept, facts)])
  return takeSteps(file, [unsettling(kept, facts), settlingByAnother(facts.at)])
}

const removing =
  (kept: ProofRecord): Step =>
  () => ({ ...noChanges(), proofs: [{ ...kept, removed: true }] })

function unsettling(kept: ProofRecord, known: Facts): Step {
  return ({ order, attempts, proofs, transactions }) => {
    const attempt = attempts.find(({ number }) => number === kept.attempt)
    if (!attempt) return noChanges()
    const facts = { ...known, transactions }
    return unsettleOrder({ order, attempt, proofs }, facts)
  }
}

/** An order that was paid twice is still paid once. */
function settlingByAnother(at: bigint): Step {
  return ({ order, attempts, proofs }) => {
    const other = proofs.find(
      ({ kind, removed }) => kind === 'capture' && !removed,
    )
    const attempt = attempts.find(({ number }) => number === other?.attempt)
    if (!other || !attempt) return noChanges()
    const unread = proofs.map((proof) =>
      proof === other ? { ...other, removed: true } : proof,
    )
    const { version: _, ...proof } = other
    return settleOrder(
      { order: { ...order, overpaid: false }, attempt, proofs: unread },
      { kind: 'capture', proof },
      at,
    )
  }
}

function noLongerOverpaid(kept: ProofRecord, { at, blockTime }: Facts): Step {
  return ({ order, attempts, proofs, transactions }) => {
    const isOverpaid = proofs.some(
      ({ kind, removed, transactionHash }) =>
        kind === 'capture' && !removed && transactionHash !== order.settledHash,
    )
    const reopened = attempts
      .filter(({ number }) => number === kept.attempt)
      .map((row) => ({
        ...row,
        spendable: row.signature !== undefined && blockTime < lastSecondOf(row),
      }))
    const told = tellOrder(
      order,
      {
        type: 'reorged',
        at,
        data: {
          transactionHash: kept.transactionHash,
          from: order.state,
          to: order.state,
        },
      },
      { overpaid: order.overpaid && isOverpaid },
    )
    return {
      ...noChanges(),
      orders: [told.order],
      attempts: reopened,
      transactions: reopenLast(
        transactions.filter(
          ({ kind, attempt }) =>
            kind === 'cancel' &&
            kept.kind === 'cancel' &&
            reopened.some(
              ({ number, spendable }) => spendable && number === attempt,
            ),
        ),
        reopened[0]?.cancellation,
      ),
      events: [told.event],
    }
  }
}

function isSame(
  row: ProofRecord,
  {
    transactionHash,
    logIndex,
  }: Pick<ProofRecord, 'transactionHash' | 'logIndex'>,
): boolean {
  return row.transactionHash === transactionHash && row.logIndex === logIndex
}
