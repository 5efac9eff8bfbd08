import type { StoreReader, TransactionRecord } from '../../store/types.js'
import { type Changes, noChanges, writeChanges } from '../model/changes.js'
import { endsOf } from '../model/endsOf.js'
import { openLedger, readRows } from '../model/openLedger.js'
import { putAside } from '../model/putAside.js'
import type { OrderFile } from '../model/settleOrder.js'
import type { OrdersContext } from '../model/types.js'
import { feesOf, isExcessive, type LaneFees, raiseFees } from './feesOf.js'
import { fillGaps } from './fillGaps.js'
import { nextBump } from './judgeNonces.js'
import { choosesNonce, type LaneState, nonceName } from './laneState.js'
import {
  planReplacements,
  type Replacement,
  watchHead,
} from './planReplacements.js'
import type { LaneView } from './readLane.js'
import { type RowDraft, rowOf, signRow } from './recordTransactions.js'
import { rehearseDue } from './rehearseDue.js'
import { isGivenUp, isInFlight, isRelaying } from './rejectOrder.js'
import { releaseCall } from './releaseCall.js'
import { sealOf } from './resendTransactions.js'
import { askWallet } from './sendByWallet.js'
import { sendRecorded } from './sendRecorded.js'
import { isResting } from './walletRest.js'

/**
 * Sends a dearer transaction in the place of what is stuck, and a transfer to
 * oneself in the place of what can no longer succeed, all at their nonces.
 *
 * @throws {@link StaleRecordError} when an order was written in between.
 */
export async function replaceTransactions(
  context: OrdersContext,
  lane: LaneState,
  view: LaneView,
): Promise<boolean> {
  const filled = await fillGaps(context, lane, view)
  const planned = planReplacements(lane, view, context.policy)
  watchHead(lane, view)
  if (planned.length === 0) return filled
  const ids = planned.flatMap(({ last }) => last.orderId ?? [])
  const { rows, bumps } = await context.store.read(async (tables) => ({
    rows: await readRows(tables, ids),
    bumps: await readBumps(tables, lane, planned),
  }))
  const ledger = openLedger(rows)
  const fees = feesOf(view)
  let isActive = filled
  for (const plan of planned) {
    const { orderId, attempt, nonce } = plan.last
    const name = nonceName('replace', nonce)
    const file = ledger.fileOf(orderId, attempt)
    try {
      const draft = await draftReplacement(context, lane, view, {
        plan,
        file,
        fees,
        bump: bumps.get(nonce) ?? 0,
      })
      lane.underpriced.delete(nonce)
      if (draft) await replaceOne(context, lane, view, { plan, file, draft })
      if (draft) lane.aside.clear(name)
      isActive ||= draft !== undefined
    } catch (error) {
      // A signer may refuse calls of anything but the token: others go on.
      putAside(lane.aside, name, error, orderId)
      // If the signer hangs, it hangs once a look and not for each of many.
      break
    }
    // Stop if the wallet failed, or proved to choose its own nonces.
    if (isResting(lane, 'filler') || !choosesNonce(lane)) break
  }
  // Whatever came of it, there is time until the next try.
  lane.head = undefined
  return isActive
}

/** Reads the next free bump of each nonce; closed transactions count too. */
async function readBumps(
  tables: StoreReader,
  { wallet: { lane: at } }: LaneState,
  planned: readonly Replacement[],
): Promise<ReadonlyMap<number, number>> {
  const bumps = new Map<number, number>()
  for (const { last } of planned) {
    const { nonce } = last
    const known = await tables.transactions.find({ at, nonce })
    bumps.set(nonce, nextBump(known))
  }
  return bumps
}

/** A replacement with the reason why the order's own has no future. */
type Drafted = RowDraft & { reason?: string | undefined }

async function draftReplacement(
  context: OrdersContext,
  lane: LaneState,
  view: LaneView,
  {
    plan: { last, why },
    file,
    fees: now,
    bump,
  }: {
    plan: Replacement
    file: OrderFile | undefined
    fees: LaneFees
    bump: number
  },
): Promise<Drafted | undefined> {
  const { nonce, orderId, attempt } = last
  const raised = raiseFees(last, now)
  const isTooDear = isExcessive(raised, now)
  if (isTooDear && last.hash !== undefined) return undefined
  // The chain's fees are enough if the wallet never sent the last one.
  const fees = isTooDear ? now : raised
  const shared = {
    ...{ nonce, bump, orderId, attempt, fees },
    seal: sealOf(last, file),
  }
  const { maxFee } = context.policy
  const verdict =
    why === 'late'
      ? { reason: 'expired' }
      : await judgeStuck(context, lane, view, { last, file, fees })
  if (verdict.reason === undefined) {
    const { again } = verdict
    if (!again) return undefined
    const fee = again.gas * fees.maxFeePerGas
    if (maxFee !== undefined && fee > maxFee) return undefined
    return { ...shared, ...again, kind: last.kind }
  }
  return {
    ...shared,
    ...(await releaseCall(lane)),
    kind: 'release',
    reason: verdict.reason,
  }
}

/** Whether what is stuck may go on at a higher price, or never should. */
async function judgeStuck(
  context: OrdersContext,
  lane: LaneState,
  { head }: LaneView,
  {
    last,
    file,
    fees,
  }: { last: TransactionRecord; file: OrderFile | undefined; fees: LaneFees },
): Promise<{
  reason?: string | undefined
  /** With the gas it takes by now. */
  again?: Pick<RowDraft, 'call' | 'gas'> | undefined
}> {
  if (last.kind === 'release' || !file)
    return { again: await releaseCall(lane) }
  const { order, attempt } = file
  const isCurrent = isInFlight(order) && order.attempt === attempt.number
  // The cancellation of an older attempt, which a reorganization took back.
  const isOlder = last.kind === 'cancel' && order.attempt > attempt.number
  if (!isCurrent && !(isOlder && attempt.open)) return { reason: 'released' }
  const end = endsOf(attempt)[last.kind]
  if (head.timestamp + context.policy.safetyMargin >= end)
    return { reason: 'deadlinePassed' }
  if (isCurrent && isGivenUp(order, isRelaying(context)))
    return { reason: 'voided' }
  const asked = { ...file, order: { ...order, wish: last.kind } }
  const [due] = await rehearseDue(context, lane, [asked], fees)
  // Leave it until the node answers and the seal can be opened. Another shop on
  // this lane may have the key.
  if (due?.failure) {
    lane.aside.put(nonceName('replace', last.nonce), due.failure, order.id)
    return {}
  }
  const isOurs = context.recipients.includes(order.recipient)
  if (due?.reason === 'sealBroken' && !isOurs) return {}
  if (!due?.draft) return { reason: due?.reason }
  const { call, gas } = due.draft
  return { again: { call, gas } }
}

async function replaceOne(
  context: OrdersContext,
  lane: LaneState,
  view: LaneView,
  {
    plan: { last },
    file,
    draft,
  }: { plan: Replacement; file: OrderFile | undefined; draft: Drafted },
): Promise<void> {
  const { wallet } = lane
  const isLocal = wallet.account.type === 'local'
  const signed = isLocal ? await signRow(context, lane, draft) : undefined
  const row = signed?.row ?? rowOf(draft, wallet.lane, context.now())
  await context.store.write(
    (tables) => writeChanges(tables, planChange(row, draft, file)),
    { lease: lane.lease },
  )
  const kept = { ...row, version: 1 }
  const place = lane.open.lastIndexOf(last) + 1
  lane.open.splice(place, 0, kept)
  context.observe({
    name: 'lane.replaced',
    attributes: { ...wallet.lane, nonce: row.nonce, kind: row.kind },
  })
  if (signed) await sendRecorded(context, lane, view, [signed.bytes])
  else await askWallet(context, lane, kept, draft)
}

/** The reason stays with the order, for when the release is mined. Pure. */
function planChange(
  row: Omit<TransactionRecord, 'version'>,
  { reason }: Drafted,
  file: OrderFile | undefined,
): Changes {
  const order = file?.order
  const isTold = reason !== undefined && order && isInFlight(order)
  return {
    ...noChanges(),
    orders: isTold ? [{ ...order, reason }] : [],
    newTransactions: [row],
  }
}
