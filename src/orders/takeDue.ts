import type { StoreReader } from '../store/types.js'
import { type Changes, noChanges, writeChanges } from './changes.js'
import { feesOf, type LaneFees } from './feesOf.js'
import { findEvidence } from './findEvidence.js'
import type { LaneState } from './laneState.js'
import { openLedger, readRows } from './openLedger.js'
import { againAt, canPay, judgeDue, roomOf } from './planSending.js'
import type { LaneView } from './readLane.js'
import { recordTransactions } from './recordTransactions.js'
import { type DueDraft, rehearseDue } from './rehearseDue.js'
import { rejectOrder } from './rejectOrder.js'
import { sendByWallet } from './sendByWallet.js'
import { sendRecorded } from './sendRecorded.js'
import { type Evidence, type OrderFile, settleOrder } from './settleOrder.js'
import type { OrdersContext } from './types.js'
import { writeAgain } from './writeAgain.js'

/** Most orders one tick takes, and most that are signed before they are sent. */
const most = 500
const chunkSize = 100

/** What a tick did with what was due. */
export type Taken = {
  sent: number
  refused: number
  /** More is due than there was room for. */
  isMore: boolean
}

/**
 * Takes orders that are due, the soonest deadline first: judges and rehearses
 * them, writes down what is sent, and sends it.
 */
export async function takeDue(
  context: OrdersContext,
  lane: LaneState,
  view: LaneView,
): Promise<Taken> {
  const { policy } = context
  const limit = Math.min(roomOf(lane, policy), most)
  if (limit === 0) return { sent: 0, refused: 0, isMore: false }
  const files = await findDue(context, lane, view, limit)
  if (files.length === 0) return { sent: 0, refused: 0, isMore: false }
  const fees = feesOf(view)
  const refusals: Refusal[] = []
  const open: OrderFile[] = []
  for (const file of files) {
    const judged = judgeDue(file, view.head, policy)
    if (judged) refusals.push({ file, reason: reasonOf(judged) })
    else open.push(file)
  }
  const drafts: DueDraft[] = []
  for (const { file, draft, reason } of await rehearseDue(
    context,
    lane,
    open,
    fees,
  )) {
    if (!draft) refusals.push({ file, reason })
    else if (isTooDear(draft, fees, policy.maxFee))
      refusals.push({ file, reason: 'feeTooHigh' })
    else drafts.push(draft)
  }
  const explained = await Promise.all(
    refusals.map((refusal) => explainRefusal(lane, refusal)),
  )
  await refuse(context, lane, explained, view.head.timestamp)
  const sent = await sendDrafts(context, lane, view, drafts, fees)
  const isMore = files.length === limit && sent + refusals.length > 0
  return { sent, refused: refusals.length, isMore }
}

type Refusal = {
  file: OrderFile
  reason: string | undefined
  /** Where someone else's transaction decided it before. */
  evidence?: Evidence | undefined
}

const reasonOf = (judged: NonNullable<ReturnType<typeof judgeDue>>) =>
  judged.kind === 'refused' ? judged.reason : undefined

function isTooDear(
  { gas }: DueDraft,
  { maxFeePerGas }: LaneFees,
  maxFee: bigint | undefined,
): boolean {
  return maxFee !== undefined && gas * maxFeePerGas > maxFee
}

async function findDue(
  { store, recipients }: OrdersContext,
  { wallet }: LaneState,
  { head }: LaneView,
  limit: number,
): Promise<OrderFile[]> {
  return store.read(async (tables: StoreReader) => {
    const orders = await tables.orders.find({
      sendDue: wallet.lane,
      recipients,
      until: head.timestamp,
      limit,
    })
    const orderIds = orders.map(({ id }) => id)
    if (orderIds.length === 0) return []
    const attempts = await tables.attempts.find({ orderIds })
    const ledger = openLedger({ orders, attempts, proofs: [] })
    return orderIds.flatMap((id) => ledger.fileOf(id) ?? [])
  })
}

/** What spent a nonce before us may well have paid the order. */
async function explainRefusal(
  { reader }: LaneState,
  refusal: Refusal,
): Promise<Refusal> {
  if (refusal.reason !== 'consumed') return refusal
  return { ...refusal, evidence: await findEvidence(reader, refusal.file) }
}

/** Writes down why orders are not sent; a due without a reason just ends. */
async function refuse(
  context: OrdersContext,
  lane: LaneState,
  refusals: readonly Refusal[],
  now: bigint,
): Promise<void> {
  if (refusals.length === 0) return
  const { policy } = context
  const at = context.now()
  const refused = new Map(refusals.map((one) => [one.file.order.id, one]))
  await writeAgain(
    context,
    async (tables) => {
      const ledger = openLedger(await readRows(tables, [...refused.keys()]))
      for (const [id, { file: judged, reason, evidence }] of refused) {
        const file = ledger.fileOf(id)
        // What was written since is judged again, if it is due again.
        if (file?.order.version !== judged.order.version) continue
        const again = reason && againAt(file, reason, now, policy)
        if (evidence) ledger.add(settleOrder(file, evidence, at))
        else if (!reason) ledger.add(endDue(file))
        else
          ledger.add(
            rejectOrder(file, { reason, again: again || undefined, at }),
          )
      }
      await writeChanges(tables, ledger.close())
    },
    { lease: lane.lease },
  )
}

function endDue({ order }: OrderFile): Changes {
  const { state, wish } = order
  // Whoever waits for a capture that was asked for hears that it is not to be.
  const left = state === 'stored' ? undefined : wish
  const ended = { ...order, sendDue: undefined, wish: left }
  return { ...noChanges(), orders: [ended] }
}

/** While one chunk is at the node the next one is signed. */
async function sendDrafts(
  context: OrdersContext,
  lane: LaneState,
  view: LaneView,
  drafts: readonly DueDraft[],
  fees: LaneFees,
): Promise<number> {
  const paid = canPay(lane, view, gasOf(drafts), fees)
  if (paid < drafts.length)
    context.observe({
      name: 'lane.waits',
      attributes: { ...lane.wallet.lane, reason: 'insufficientFunds' },
    })
  const sendable = drafts.slice(0, paid)
  const { pendingCount, count } = view
  const nextNonce = Math.max(lane.value.nextNonce, pendingCount, count)
  lane.value = { ...lane.value, nextNonce }
  if (lane.wallet.account.type !== 'local')
    return sendByWallet(context, lane, sendable, fees)
  const sends: Promise<void>[] = []
  try {
    for (let at = 0; at < sendable.length; at += chunkSize) {
      const chunk = sendable.slice(at, at + chunkSize)
      const recorded = await recordTransactions(context, lane, chunk, fees)
      sends.push(sendRecorded(context, lane, view, recorded))
    }
  } finally {
    await Promise.all(sends)
  }
  return sendable.length
}

const gasOf = (drafts: readonly DueDraft[]) => drafts.map(({ gas }) => gas)
