import { openLedger } from '../ledger/openLedger.js'
import type { OrderFile } from '../ledger/settleOrder.js'
import type { OrdersContext } from '../ledger/types.js'
import type { StoreReader } from '../store/types.js'
import { feesOf, type LaneFees } from './feesOf.js'
import type { LaneState } from './laneState.js'
import { judgeDue, roomOf } from './planSending.js'
import type { LaneView } from './readLane.js'
import { type Refusal, refuseDue } from './refuseDue.js'
import { type DueDraft, type RehearsedDue, rehearseDue } from './rehearseDue.js'
import { chunkSize, sendDrafts } from './sendDrafts.js'

/** Most orders one tick takes. */
const most = 500

/** Orders rehearsed while those before them are signed; fewer at first. */
const firstGroup = 100
const groupSize = 200

/** Most of one payer's that are rehearsed together. */
const mostOfPayer = 250

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
  const taken: Taken = { sent: 0, refused: 0, isMore: false }
  const limit = Math.min(roomOf(lane, policy), most)
  if (limit === 0) return taken
  const files = await findDue(context, lane, view, limit)
  const fees = feesOf(view)
  const { open, refusals } = sortDue(files, view, policy)
  const sends: Promise<void>[] = []
  const ready: DueDraft[] = []
  const send = async (count: number): Promise<void> => {
    const drafts = ready.splice(0, count)
    const options = { drafts, fees, sends }
    taken.sent += await sendDrafts(context, lane, view, options)
  }
  const groups = groupByPayer(open)
  const rehearse = (): Rehearsing[] =>
    groups
      .splice(0, 1)
      .map((group) => settled(rehearseDue(context, lane, group, fees)))
  // Two at a time: one is made ready while the node plays the other.
  const coming = [...rehearse(), ...rehearse()]
  try {
    for (let next = coming.shift(); next; next = coming.shift()) {
      const { due = [], error } = await next
      if (error === undefined) coming.push(...rehearse())
      const { drafts, refused } = sortRehearsed(due, fees, policy)
      refusals.push(...refused)
      ready.push(...drafts)
      // Whole chunks, as long as there may be more to fill them.
      const isLast = error !== undefined || coming.length === 0
      const rest = isLast ? 0 : ready.length % chunkSize
      await send(ready.length - rest)
      if (error !== undefined) throw error
    }
    await refuseDue(context, lane, refusals, view.head.timestamp)
  } finally {
    await Promise.all([...sends, ...coming])
  }
  taken.refused = refusals.length
  const isActive = taken.sent + taken.refused > 0
  taken.isMore = isActive && files.length === limit && roomOf(lane, policy) > 0
  return taken
}

/** What is due, and what its record alone speaks against. */
function sortDue(
  files: readonly OrderFile[],
  { head }: LaneView,
  policy: OrdersContext['policy'],
): { open: OrderFile[]; refusals: Refusal[] } {
  const open: OrderFile[] = []
  const refusals: Refusal[] = []
  for (const file of files) {
    const judged = judgeDue(file, head, policy)
    if (judged) refusals.push({ file, ...judged })
    else open.push(file)
  }
  return { open, refusals }
}

type Rehearsing = Promise<{ due?: RehearsedDue[]; error?: unknown }>

/** A failure that waits to be looked at is no unhandled one. */
function settled(work: Promise<RehearsedDue[]>): Rehearsing {
  return work.then(
    (due) => ({ due }),
    (error: unknown) => ({ error }),
  )
}

/** Groups that keep a payer's orders together: they draw on one balance. */
function groupByPayer(files: readonly OrderFile[]): OrderFile[][] {
  const byPayer = new Map<string, OrderFile[]>()
  for (const file of files) {
    const { token, payer } = file.order
    const key = `${token} ${file.attempt.payer ?? payer}`
    const group = byPayer.get(key)
    if (group) group.push(file)
    else byPayer.set(key, [file])
  }
  const groups: OrderFile[][] = []
  for (const own of byPayer.values())
    for (let at = 0; at < own.length; at += mostOfPayer) {
      const part = own.slice(at, at + mostOfPayer)
      const last = groups.at(-1)
      const size = groups.length > 1 ? groupSize : firstGroup
      if (last && last.length + part.length <= size) last.push(...part)
      else groups.push(part)
    }
  return groups
}

function sortRehearsed(
  rehearsed: readonly RehearsedDue[],
  { maxFeePerGas }: LaneFees,
  { maxFee }: OrdersContext['policy'],
): { drafts: DueDraft[]; refused: Refusal[] } {
  const drafts: DueDraft[] = []
  const refused: Refusal[] = []
  for (const { file, draft, reason } of rehearsed) {
    if (!draft) refused.push({ file, reason })
    else if (maxFee !== undefined && draft.gas * maxFeePerGas > maxFee)
      refused.push({ file, reason: 'feeTooHigh' })
    else drafts.push(draft)
  }
  return { drafts, refused }
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
