import type { Client } from 'viem'
import { standsInBlock } from '../../chain/logs/standsInBlock.js'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { getReceipt } from '../../chain/state/getReceipt.js'
import type { Lease, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { apply, applyTaken, rulesOf } from '../model/apply.js'
import { writeChanges } from '../model/changes.js'
import type { HasKinds } from '../model/kindOf.js'
import { loadRefund, loadRefunded } from '../model/loadRefund.js'
import { type PlannedRefund, planRefund } from '../model/planRefund.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import { hasNonce } from '../model/refundRow.js'
import type { Evidence } from '../model/settleOrder.js'
import { atAttempt, type StoredRefund } from '../model/storedOrder.js'
import { loadIdentity } from '../model/storeState.js'
import { transferOf } from '../model/transferOf.js'
import type { HeldNonce, RefundedPayment } from './planRefundNonce.js'
import { releaseNonce } from './releaseNonce.js'

type Unknown = {
  payment: RefundedPayment
  /**
   * The nonce that another transfer used, although perhaps a stored attempt was
   * planned with it.
   */
  next: HeldNonce
}

/**
 * Writes a refund that only the chain has, with the amount on chain: another
 * database signed it, or this database was restored from an older backup. If a
 * stored refund of the same amount still waits, marks that one as paid.
 * Otherwise adds a refund whose `refundId` is its nonce.
 *
 * @returns `false` if the chain does not show the refund at one block, or the
 * stored rows changed meanwhile. Then a later poll decides.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its logs lack the transaction that used the nonce.
 */
export async function adoptRefund(
  context: OrdersContext,
  { client, lease }: { client: Client; lease: Lease | undefined },
  unknown: Unknown,
): Promise<boolean> {
  const found = await findTransfer(context, client, unknown)
  if (!found) return false
  const { planned, evidence } = found
  const { id } = planned.order
  return writeAgain(
    context,
    async (tables) => {
      const isFree = await freeNonce(context, tables, unknown)
      if (!isFree) return false
      const waiting = await findWaiting(tables, unknown, found)
      if (waiting) {
        await settleWaiting(context, tables, { waiting, unknown, found })
        return true
      }
      const { id: orderId } = unknown.payment.found.order
      const [order] = await tables.orders.find({ ids: [orderId] })
      if (!order) return false
      await tables.orders.update([{ ...order, refunds: order.refunds + 1 }])
      await tables.orders.insert([planned.order])
      await tables.attempts.insert([planned.attempt])
      const stored = (await loadRefund(tables, id))?.stored
      if (!stored) return false
      const rules = rulesOf(context)
      await writeChanges(tables, apply(stored, evidence, rules), rules.at)
      return true
    },
    { lease },
  )
}

/**
 * Removes the nonce from a stored refund, because another transfer used that
 * nonce.
 */
async function freeNonce(
  context: OrdersContext,
  tables: StoreWriter,
  { payment, next: { nonce, holder } }: Unknown,
): Promise<boolean> {
  const [current] = await tables.attempts.find({ nonces: [nonce] })
  if (!current) return true
  if (current.orderId !== holder?.orderId) return false
  const other = await loadRefund(tables, current.orderId)
  if (!other || other.row.parentId !== payment.found.order.id) return false
  if (!(await releaseNonce(tables, current))) return false
  const isNewest = atAttempt(other.stored, current.number) !== undefined
  if (isNewest && other.row.attempt === current.number) {
    const rules = rulesOf(context)
    const lost = applyTaken(other.stored, { kind: 'loseNonce' }, rules)
    await writeChanges(tables, lost, rules.at)
  }
  return true
}

type Transfer = { planned: PlannedRefund; evidence: Evidence }

/**
 * Finds the oldest waiting refund of this amount that was requested in the lost
 * database. That database may have paid it by this transfer, so paying it here
 * could pay it twice.
 */
async function findWaiting(
  tables: StoreWriter,
  { payment }: Unknown,
  { planned, evidence }: Transfer,
): Promise<StoredRefund | undefined> {
  if (evidence.kind !== 'capture') return undefined
  const identity = await loadIdentity(tables)
  const current = await loadRefunded(tables, payment.found.order.id)
  return current?.refunds?.find(
    ({ row, stored }) =>
      row.state === 'drafted' &&
      row.parentAttempt === payment.paid.number &&
      row.value === planned.order.value &&
      row.metadata.requestedIn !== undefined &&
      row.metadata.requestedIn !== identity &&
      !hasNonce(stored.attempt),
  )
}

async function settleWaiting(
  context: OrdersContext,
  tables: StoreWriter,
  {
    waiting: { row, stored: drafted },
    unknown: { next },
    found: { evidence },
  }: { waiting: StoredRefund; unknown: Unknown; found: Transfer },
): Promise<void> {
  if (evidence.kind !== 'capture') return
  await tables.attempts.update([{ ...drafted.attempt, nonce: next.nonce }])
  const stored = (await loadRefund(tables, row.id))?.stored
  if (!stored) return
  const { id: orderId, attempt: number } = row
  const proof = { ...evidence.proof, orderId, attempt: number }
  const settled = { ...evidence, proof }
  const rules = rulesOf(context)
  await writeChanges(tables, apply(stored, settled, rules), rules.at)
}

async function findTransfer(
  context: HasKinds,
  client: Client,
  { payment, next: { nonce } }: Unknown,
): Promise<Transfer | undefined> {
  const { found, paid, proof } = payment
  const plan = (value: bigint): PlannedRefund => {
    const planned = planRefund(found.order, {
      payment: proof,
      attempt: paid.number,
      refundId: nonce,
      value,
      submitter: found.order.submitter,
      metadata: {},
    })
    return { ...planned, attempt: { ...planned.attempt, nonce } }
  }
  const rowsOf = ({ order, attempt }: PlannedRefund) => ({
    order: { ...order, version: 1, position: 0n },
    attempt: { ...attempt, version: 1 },
  })
  const nothing = plan(0n)
  const evidence = await findEvidence(client, {
    ...rowsOf(nothing),
    kinds: context.kinds,
  })
  if (!evidence || evidence.kind === 'expired') return undefined
  if (evidence.kind !== 'consumed') return { planned: nothing, evidence }
  const receipt = await getReceipt(client, evidence.transactionHash)
  const head = receipt && (await getBlockHead(client, receipt.blockNumber))
  if (!head || !standsInBlock(receipt, head)) return undefined
  const { token, recipient } = found.order
  const moved = transferOf(receipt, { token, authorizer: recipient, nonce })
  // A transfer to another account than the payer is no refund.
  if (moved?.to !== proof.payer) return { planned: nothing, evidence }
  const planned = plan(moved.value)
  const proven = proofRecordOf(
    context,
    receipt,
    rowsOf(planned),
    head.timestamp,
  )
  return proven && { planned, evidence: { kind: 'capture', proof: proven } }
}
