import { ordersOf } from '../../store/movements.js'
import type { OrderReason, TransactionRecord } from '../../store/types.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import { groupByNonce, newestOf } from '../account/inFlight.js'
import { loadBumps } from '../account/loadBumps.js'
import {
  choosesNonce,
  nonceName,
  type SubmitterState,
} from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { putAside } from '../loop/putAside.js'
import { apply, rulesOf } from '../model/apply.js'
import { noChanges, writeChanges } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { endsOf } from '../model/endsOf.js'
import { loadOrders } from '../model/loadOrders.js'
import { isGivenUp, isInFlight } from '../model/rejectOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { SettledPolicy } from '../model/types.js'
import { movementsBy } from '../sending/dueTransaction.js'
import {
  feesOf,
  isExcessive,
  raiseFees,
  type SubmitterFees,
} from '../sending/feesOf.js'
import { findKeyFault } from '../sending/findKeyFault.js'
import { askForBatch, planTransactions } from '../sending/planTransactions.js'
import { rehearseDue } from '../sending/rehearseDue.js'
import { askToSend } from '../sending/sendByWallet.js'
import { sendRecorded } from '../sending/sendRecorded.js'
import { type RowDraft, rowOf, signRow } from '../sending/signDrafts.js'
import { fillerCall, fillGaps } from './fillGaps.js'

type Replacement = {
  last: TransactionRecord
  /**
   * `late`: the payment's window has ended. `stuck`: no block includes the
   * transaction.
   */
  why: 'late' | 'stuck'
}

/** Most transactions to replace in one poll. */
const mostReplaced = 20

/**
 * Plans which transactions to replace: those that can no longer succeed; those
 * that the node refused as too cheap; and the one with the lowest nonce if it
 * has waited for `bumpAfter`, together with those behind it that pay less than
 * the base fee.
 */
function planReplacements(
  submitter: SubmitterState,
  { count, head }: Pick<SubmitterView, 'count' | 'head'>,
  { bumpAfter }: Pick<SettledPolicy, 'bumpAfter'>,
): Replacement[] {
  const { inFlight, broadcasts, pace, walletMemory, aside } = submitter
  if (!choosesNonce(submitter)) return []
  const waiting = groupByNonce(inFlight.rows)
    .map(newestOf)
    .filter(({ nonce }) => nonce >= count)
  const lowest = waiting[0]?.nonce
  const since = pace.waitsSince(lowest)
  const isStuck =
    since !== undefined && head.timestamp - since >= BigInt(bumpAfter)
  return waiting
    .flatMap((last): Replacement[] => {
      const { nonce, kind, hash, maxFeePerGas } = last
      if (aside.isWaiting(nonceName('replace', nonce))) return []
      const ends = inFlight.endsOf(last)
      if (kind !== 'filler' && ends && head.timestamp >= ends[kind])
        return walletMemory.isResting('filler') ? [] : [{ last, why: 'late' }]
      // A transaction whose hash we do not know may be mined beside its
      // replacement. That is safe only for a filler, which does nothing but use
      // up its nonce.
      if (hash === undefined)
        return kind === 'filler' && !walletMemory.isResting('filler')
          ? [{ last, why: 'stuck' }]
          : []
      const isCheap = maxFeePerGas < (head.baseFeePerGas ?? 0n)
      // Raise the fee of a refused transaction at once, but only for the first
      // time.
      const isRefused = broadcasts.isRefused(nonce) && last.bump === 0
      const isBehind = isRefused || (isStuck && (nonce === lowest || isCheap))
      return isBehind ? [{ last, why: 'stuck' }] : []
    })
    .slice(0, mostReplaced)
}

/**
 * Replaces transactions at the same account nonce: stuck ones with higher fees,
 * and those that can no longer succeed by an empty transfer to the account
 * itself. Fills gaps first.
 *
 * @returns `isMore` when the limit of one poll was reached.
 * @throws {@link StaleRecordError} when an order was written meanwhile.
 */
export async function replaceTransactions(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<{ isReplaced: boolean; isMore: boolean }> {
  if (submitter.walletAsk.row) return { isReplaced: false, isMore: false }
  const filled = await fillGaps(context, submitter, view)
  const planned = planReplacements(submitter, view, context.policy)
  watchLowest(submitter, view)
  const isMore = planned.length === mostReplaced
  if (planned.length === 0) return { isReplaced: filled, isMore }
  const ids = ordersOf(planned.map(({ last }) => last))
  const { rows, bumps } = await context.store.read(async (tables) => ({
    rows: await loadOrders(tables, { ids }),
    bumps: await loadBumps(
      tables,
      submitter,
      planned.map(({ last }) => last.nonce),
    ),
  }))
  const collected = collectChanges(rows)
  const fees = feesOf(view, await view.costs())
  let isReplaced = filled
  for (const [at, plan] of planned.entries()) {
    const { movements, nonce } = plan.last
    const name = nonceName('replace', nonce)
    const carried = movements.flatMap(
      (one) => collected.find(one.orderId, one.attempt) ?? [],
    )
    try {
      const draft = await draftReplacement(context, submitter, view, {
        plan,
        carried,
        fees,
        bump: bumps[at] ?? 0,
      })
      submitter.broadcasts.clearRefusal(nonce)
      if (draft) await replaceOne(context, submitter, view, { carried, draft })
      if (draft) submitter.aside.clear(name)
      isReplaced ||= draft !== undefined
    } catch (error) {
      // A signer may allow only calls of the token, and so refuse the empty
      // transfer. Other work continues.
      putAside(submitter.aside, name, error, movements[0]?.orderId)
      // A signer that hangs may delay a poll once, but not once per nonce.
      break
    }
    // Stop if the wallet failed, or has turned out to choose its own nonces.
    if (submitter.walletMemory.isResting('filler') || !choosesNonce(submitter))
      break
  }
  // Wait for all of `bumpAfter` before the next try, whatever the result of
  // this one.
  submitter.pace.restartWait(view.head.timestamp)
  return { isReplaced, isMore: isMore && isReplaced }
}

/** Records since when this account nonce has been the lowest in flight. */
function watchLowest(
  { inFlight, pace }: SubmitterState,
  { count, head }: Pick<SubmitterView, 'count' | 'head'>,
): void {
  const lowest = inFlight.rows.find(({ nonce }) => nonce >= count)
  pace.watchLowest(lowest?.nonce, head.timestamp)
}

/**
 * A replacement. `reason` says why the order's own transaction cannot succeed.
 */
type Drafted = RowDraft & { reason?: OrderReason | undefined }

async function draftReplacement(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  {
    plan: { last, why },
    carried,
    fees: now,
    bump,
  }: {
    plan: Replacement
    carried: readonly StoredOrder[]
    fees: SubmitterFees
    bump: number
  },
): Promise<Drafted | undefined> {
  const { nonce, movements } = last
  const raised = raiseFees(last, now)
  const isTooDear = isExcessive(raised, now)
  if (isTooDear && last.hash !== undefined) {
    // Once it is known that the permission has ended, its orders are freed.
    const { wallet, reader } = submitter
    if (wallet.key) await findKeyFault(reader, wallet.key)
    return undefined
  }
  // Without a hash, the wallet may never have sent the last transaction. Then
  // there is nothing to outbid, and the current fees are enough.
  const fees = isTooDear ? now : raised
  const shared = {
    nonce,
    bump,
    movements,
    fees,
  }
  const { maxFee } = context.policy
  const verdict =
    why === 'late'
      ? ({ reason: 'expired' } as const)
      : await judgeStuck(context, submitter, view, { last, carried, fees })
  if (verdict.reason === undefined) {
    const { again } = verdict
    if (!again) return undefined
    // The limit is for one payment, so it applies to its share.
    const shares = BigInt((again.movements ?? movements).length || 1)
    const fee = (again.gas * fees.maxFeePerGas) / shares
    if (maxFee !== undefined && fee > maxFee) return undefined
    return { ...shared, ...again, kind: last.kind }
  }
  return {
    ...shared,
    ...(await fillerCall(submitter)),
    kind: 'filler',
    reason: verdict.reason,
  }
}

/** A call to send again; without `movements`, it carries the same payments. */
type Again = Pick<RowDraft, 'call' | 'gas'> &
  Partial<Pick<RowDraft, 'movements'>>

/**
 * Decides whether to send a stuck transaction again with higher fees, or to
 * give it up.
 */
async function judgeStuck(
  context: OrdersContext,
  submitter: SubmitterState,
  { head }: SubmitterView,
  {
    last,
    carried,
    fees,
  }: {
    last: TransactionRecord
    carried: readonly StoredOrder[]
    fees: SubmitterFees
  },
): Promise<{
  reason?: OrderReason | undefined
  /** The same call, with the gas limit that it needs now. */
  again?: Again | undefined
}> {
  const [stored] = carried
  if (last.kind === 'filler' || !stored)
    return { again: await fillerCall(submitter) }
  if (last.movements.length > 1)
    return judgeShared(context, submitter, head, { carried, fees })
  const { order, attempt } = stored
  const isCurrent = isInFlight(order) && order.attempt === attempt.number
  // A reorg undid the cancellation of an older attempt, so that one must be
  // sent again.
  const isOlder = last.kind === 'cancel' && order.attempt > attempt.number
  if (!isCurrent && !(isOlder && attempt.spendable))
    return { reason: 'replaced' }
  const end = endsOf(attempt)[last.kind]
  if (head.timestamp + context.policy.safetyMargin >= end)
    return { reason: 'deadlinePassed' }
  if (isCurrent && isGivenUp(order, context.policy)) return { reason: 'voided' }
  const again = { ...stored, order: { ...order, requested: last.kind } }
  const [due] = await rehearseDue(context, submitter, [again], fees)
  // Keep the transaction until the node answers and its secret can be
  // decrypted. Another shop with this submitter may have the key.
  if (due?.failure) {
    submitter.aside.put(nonceName('replace', last.nonce), due.failure, order.id)
    return {}
  }
  const isOwnOrder = context.recipients.includes(order.recipient)
  if (due?.reason === 'sealBroken' && !isOwnOrder) return {}
  if (!due?.draft) return { reason: due?.reason }
  const { call, gas } = due.draft
  return { again: { call, gas } }
}

/**
 * Builds the call of a transaction with many payments again, without those that
 * cannot be captured now. These stay with the transaction that is replaced,
 * which may still be mined.
 */
async function judgeShared(
  context: OrdersContext,
  submitter: SubmitterState,
  head: SubmitterView['head'],
  { carried, fees }: { carried: readonly StoredOrder[]; fees: SubmitterFees },
): Promise<{ reason?: OrderReason | undefined; again?: Again | undefined }> {
  const { policy } = context
  const open = carried.filter(
    ({ order, attempt }) =>
      isInFlight(order) &&
      order.attempt === attempt.number &&
      !isGivenUp(order, policy) &&
      head.timestamp + policy.safetyMargin < endsOf(attempt).capture,
  )
  const again = open.map(({ order, ...stored }) => ({
    ...stored,
    order: { ...order, requested: 'capture' as const },
  }))
  const [batch, rehearsed] = await Promise.all([
    askForBatch(context, submitter, again),
    rehearseDue(context, submitter, again, fees),
  ])
  const drafts = rehearsed.flatMap(({ draft }) => draft ?? [])
  if (drafts.length === 0) {
    const isUnknown = rehearsed.some(({ failure }) => failure)
    return isUnknown ? {} : { reason: 'replaced' }
  }
  const planned = planTransactions(context, submitter, drafts, { batch })
  const [first] = planned.sort(
    (one, other) => other.drafts.length - one.drafts.length,
  )
  if (!first) return {}
  const { call, gas } = first
  return { again: { call, gas, movements: movementsBy(first) } }
}

async function replaceOne(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  { carried, draft }: { carried: readonly StoredOrder[]; draft: Drafted },
): Promise<void> {
  const { wallet } = submitter
  const isLocal = wallet.account.type === 'local'
  const signed = isLocal ? await signRow(context, submitter, draft) : undefined
  const row = signed?.row ?? rowOf(draft, wallet.submitter, context.now())
  const rules = rulesOf(context)
  const { reason, movements } = draft
  const [stored] = carried
  // The reason stays with the order until the empty transaction at its nonce is
  // mined. One of several payments may still be sent alone.
  const changes =
    reason && stored && movements.length === 1
      ? apply(stored, { kind: 'givingUp', reason }, rules)
      : noChanges()
  const written = { ...changes, newTransactions: [row] }
  await context.store.write(
    (tables) => writeChanges(tables, written, rules.at),
    { lease: submitter.lease },
  )
  const kept = { ...row, version: 1 }
  submitter.inFlight.add([kept])
  context.observe({
    name: 'submitter.replaced',
    attributes: { ...wallet.submitter, nonce: row.nonce, kind: row.kind },
  })
  if (signed) sendRecorded(context, submitter, view, [signed.bytes])
  else await askToSend(context, submitter, kept, draft)
}
