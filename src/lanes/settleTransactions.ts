import { tellOrder, writeChanges } from '../ledger/changes.js'
import {
  type Ledger,
  type OrderRows,
  openLedger,
  readRows,
} from '../ledger/openLedger.js'
import { settleOrder } from '../ledger/settleOrder.js'
import type { OrdersContext } from '../ledger/types.js'
import type { TransactionRecord } from '../store/types.js'
import {
  explainNonce,
  ignorePassing,
  isSentBy,
  type NonceFate,
} from './explainNonce.js'
import { type JudgedNonce, judgeNonces } from './judgeNonces.js'
import { type LaneState, laneKey, windowKey } from './laneState.js'
import type { LaneView } from './readLane.js'
import { rejectOrder, reopenOrder } from './rejectOrder.js'

/**
 * Writes down what the chain decided about what is open; `true` when it
 * decided anything.
 *
 * @throws {@link StaleRecordError} when an order was written in between; then
 * the whole of it can be done again.
 */
export async function settleTransactions(
  context: OrdersContext,
  lane: LaneState,
  view: LaneView,
): Promise<boolean> {
  const { store } = context
  if (view.isEarly) return false
  const judged = judgeNonces(lane, view).filter(
    ({ kind }) => kind !== 'pending',
  )
  if (judged.length === 0) return false
  const ids = judged.flatMap(({ rows }) => rows[0].orderId ?? [])
  const rows = await store.read((tables) => readRows(tables, unique(ids)))
  const fates = await explainAll(lane, view, judged, openLedger(rows))
  if (fates.length === 0) return false

  const held = await readHeld(context, fates)
  const ledger = openLedger({
    orders: [...rows.orders, ...held.orders],
    attempts: [...rows.attempts, ...held.attempts],
    proofs: [...rows.proofs, ...held.proofs],
  })
  const at = context.now()
  for (const fate of fates) applyFate(ledger, fate, at)
  for (const { id } of held.orders) holdOrder(ledger, id, at)
  const changes = ledger.close()
  const value = { ...lane.value, sharedNonce: highestForeign(lane, fates) }
  const isShared = value.sharedNonce !== lane.value.sharedNonce
  await store.write(
    async (tables) => {
      await writeChanges(tables, changes)
      if (isShared) await tables.setValue(laneKey(lane.wallet.lane), value)
    },
    { lease: lane.lease },
  )
  if (isShared) lane.value = value
  forgetNonces(lane, fates)
  return true
}

async function explainAll(
  lane: LaneState,
  view: LaneView,
  judged: readonly JudgedNonce[],
  ledger: Ledger,
): Promise<NonceFate[]> {
  const fates = await Promise.all(
    judged.map((one) => {
      const { orderId, attempt } = one.rows[0]
      const file = ledger.fileOf(orderId, attempt)
      return explainNonce(lane, view, one, file).catch(ignorePassing)
    }),
  )
  return fates.filter((fate) => fate !== undefined)
}

/** What a payer whose capture failed on chain has open besides. */
async function readHeld(
  { store, recipients }: OrdersContext,
  fates: readonly NonceFate[],
): Promise<OrderRows> {
  const failed = fates.filter(isPayersFailure)
  if (failed.length === 0) return { orders: [], attempts: [], proofs: [] }
  return store.read(async (tables) => {
    const ids: string[] = []
    for (const { file } of failed) {
      const payer = file?.attempt.payer
      if (!file || !payer) continue
      const { chainId, token } = file.order
      const exposure = { chainId, token, payer }
      for (const attempt of await tables.attempts.find({ exposure }))
        ids.push(attempt.orderId)
    }
    const rows = await readRows(tables, unique(ids))
    const own = rows.orders.filter(({ recipient }) =>
      recipients.includes(recipient),
    )
    return { ...rows, orders: own }
  })
}

/** Gas was spent on a capture whose rehearsal had passed. */
function isPayersFailure({ judged, failure, evidence }: NonceFate): boolean {
  if (failure) return failure.isRevert
  const isReverted =
    judged.kind === 'mined' && judged.receipt.status === 'reverted'
  return isReverted && ['cancel', 'consumed'].includes(evidence?.kind ?? '')
}

function applyFate(ledger: Ledger, fate: NonceFate, at: bigint): void {
  const { judged, evidence, failure, isOver, isForeign, isFree } = fate
  const [{ orderId, attempt, account, nonce }] = judged.rows
  if (isOver) ledger.add({ transactions: closeRows(fate) })
  const file = () => ledger.fileOf(orderId, attempt)
  const first = file()
  if (first && isForeign) {
    const data = { account, nonce }
    const told = tellOrder(first.order, { type: 'laneShared', at, data })
    ledger.add({ orders: [told.order], events: [told.event] })
  }
  const now = file()
  if (!now) return
  if (evidence) ledger.add(settleOrder(now, evidence, at))
  else if (failure) ledger.add(rejectOrder(now, { reason: failure.reason, at }))
  else if (isFree && now.order.wish === 'void')
    ledger.add(rejectOrder(now, { reason: 'voided', at }))
  else if (isFree) ledger.add({ orders: [reopenOrder(now.order)] })
}

/** What only the wallet knew is on record once the chain has shown it. */
function closeRows({ judged, evidence, file }: NonceFate): TransactionRecord[] {
  // What the end of an order erased would else stay with bytes it outlived.
  const erased = file?.order.grade === 'finalized' ? { raw: undefined } : {}
  return judged.rows.map((row) => {
    const isOurs =
      evidence?.kind === row.kind && isSentBy(evidence, row.account)
    const shown =
      isOurs && 'proof' in evidence ? evidence.proof.transactionHash : undefined
    return { ...row, ...erased, hash: row.hash ?? shown, open: false }
  })
}

/** Waits for the merchant, who has to ask for it again. */
function holdOrder(ledger: Ledger, orderId: string, at: bigint): void {
  const order = ledger.fileOf(orderId)?.order
  if (!order || order.held || order.state !== 'stored') return
  // It is not captured: the buyer's cancellation goes out all the same.
  if (order.wish === 'cancel') return
  const held = tellOrder(
    order,
    { type: 'payerHeld', at, data: { payer: order.payer } },
    {
      ...{ held: true, sendDue: undefined, wish: undefined },
      reason: order.reason ?? 'payerHeld',
    },
  )
  ledger.add({ orders: [held.order], events: [held.event] })
}

function highestForeign(
  { value }: LaneState,
  fates: readonly NonceFate[],
): number | undefined {
  return fates
    .filter(({ isForeign }) => isForeign)
    .reduce(
      (highest, { judged }) => Math.max(highest ?? -1, judged.nonce),
      value.sharedNonce,
    )
}

function forgetNonces(lane: LaneState, fates: readonly NonceFate[]): void {
  const over = fates.filter(({ isOver }) => isOver)
  const nonces = new Set(over.map(({ judged }) => judged.nonce))
  for (const { judged } of over) {
    lane.windows.delete(windowKey(judged.rows[0]))
    lane.sentAt.delete(judged.nonce)
    lane.lost.delete(judged.nonce)
    lane.underpriced.delete(judged.nonce)
  }
  lane.open = lane.open.filter(({ nonce }) => !nonces.has(nonce))
}

function unique(ids: readonly string[]): string[] {
  return [...new Set(ids)]
}
