import { DuplicateRecordError, StaleRecordError } from '../../store/errors.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import { ordersOf } from '../../store/movements.js'
import type { TransactionRecord } from '../../store/types.js'
import type { SubmitterValue } from '../account/accountNonces.js'
import { noteReverted } from '../account/batchMemory.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import {
  clearNonce,
  nonceName,
  type SubmitterState,
  submitterKey,
} from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { apply, type Input, type Rules, rulesOf } from '../model/apply.js'
import { type Changes, withEvent, writeChanges } from '../model/changes.js'
import { type ChangeSet, collectChanges } from '../model/collectChanges.js'
import { eraseSecrets, loadFinal } from '../model/eraseSecrets.js'
import { loadOrders } from '../model/loadOrders.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { againAt } from '../sending/planSending.js'
import {
  blamesPayer,
  explainNonce,
  isSentBy,
  type JudgedNonce,
  judgeNonces,
  type NonceFate,
} from './explainNonce.js'
import { hasKeyEnded, markEnded } from './markEnded.js'
import { setConflictsApart } from './setConflictsApart.js'

/**
 * Stores what the chain decided about transactions in flight. Returns the
 * changed orders, or `undefined` if nothing was decided.
 *
 * @throws {@link StaleRecordError} when an order was written meanwhile; the
 * caller can then repeat the call.
 */
export async function settleTransactions(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<StoredOrder[] | undefined> {
  if (view.isEarly) return undefined
  const all = judgeNonces(submitter, view)
  const unfound = all.filter(
    ({ kind }) => kind === 'passed' || kind === 'unknown',
  )
  submitter.nonces.forgetLostExcept(new Set(unfound.map(({ nonce }) => nonce)))
  const isKeyOver = hasKeyEnded(submitter)
  const judged = all.filter(
    ({ kind, nonce }) =>
      (kind !== 'pending' || isKeyOver) &&
      !submitter.aside.isWaiting(nonceName('settle', nonce)),
  )
  if (judged.length === 0) return undefined
  const ids = ordersOf(judged)
  const taken = await takeOrders(context, submitter, ids)
  const before = collectChanges(taken)
  const { count } = view
  const marked = isKeyOver
    ? markEnded(submitter, judged, { collected: before, count })
    : judged
  const fates = await explainAll(submitter, view, marked, before)
  if (fates.length === 0) return undefined

  const blamed = await findBlamed(submitter, fates)
  const reviewed = await loadForReview(context, blamed)
  const sent = await loadWithdrawn(context, fates)
  const known = new Map([...taken, ...reviewed])
  const rules = rulesOf(context)
  // Compute this outside `applyFates`, which may run twice, because each call
  // counts one refusal.
  const again = new Map(
    fates.map((fate) => [
      fate,
      againOf(context, submitter, view, fate, blamed),
    ]),
  )
  const { collected, fit } = applyFates(
    submitter,
    known,
    fates,
    (collected, fate) =>
      applyFate(collected, fate, { rules, again: again.get(fate) }),
  )
  const blames = (stored: StoredOrder) =>
    apply(stored, { kind: 'blamed' }, rules)
  for (const id of reviewed.keys()) collected.apply(id, [blames])
  for (const id of ordersOf(sent))
    if (collected.find(id)?.order.finality === 'finalized')
      collected.apply(id, [eraseSecrets(sent)])
  const changes = collected.close()
  const { aloneUntil } = submitter.nonces.value
  const value = valueAfter(context, submitter, fit)
  await writeSettled(context, submitter, changes, value).catch(
    async (error: unknown) => {
      if (!(error instanceof DuplicateRecordError)) throw error
      await setConflictsApart(context, submitter, fit)
      // Another process stored the proof first, so it has changed the order too.
      throw new StaleRecordError({ table: 'proofs' })
    },
  )
  rememberLeft(submitter, fit)
  const reverted = fit.find(({ judged }) => isRevertedBatch(judged))
  if (reverted && value.aloneUntil !== aloneUntil)
    context.observe({
      name: 'submitter.unbatched',
      attributes: {
        ...submitter.wallet.submitter,
        nonce: reverted.judged.nonce,
      },
    })
  forgetNonces(submitter, fit)
  return collected.written()
}

/**
 * Remembers which payments a transaction with many left uncaptured, so that
 * their next transaction carries fewer.
 */
function rememberLeft(
  { batches }: SubmitterState,
  fates: readonly NonceFate[],
): void {
  for (const { judged, stored, isFree, evidence, failure } of fates) {
    if (!stored) continue
    const { row = judged } = judged.kind === 'mined' ? judged : {}
    if (isFree && judged.movements.length > 1)
      batches.noteLeft(
        stored.order.id,
        row.movements.length,
        isRevertedBatch(judged),
      )
    else if (evidence || failure) batches.forget(stored.order.id)
  }
}

/** True when a transaction with several payments reverted. */
function isRevertedBatch(judged: JudgedNonce): boolean {
  return (
    judged.kind === 'mined' &&
    judged.receipt.status === 'reverted' &&
    judged.row.movements.length > 1
  )
}

/** Returns what the store keeps about the submitter after these fates. */
function valueAfter(
  { now }: OrdersContext,
  { nonces }: SubmitterState,
  fates: readonly NonceFate[],
): SubmitterValue {
  const left = fates.filter(
    ({ isFree, judged }) => isFree && isRevertedBatch(judged),
  )
  const reverted = new Set(left.map(({ judged }) => judged))
  const noted = [...reverted].reduce(
    (value) => noteReverted(value, Number(now() / 1000n)),
    nonces.value,
  )
  const sharedNonce = highestForeign({ nonces }, fates)
  return sharedNonce === noted.sharedNonce ? noted : { ...noted, sharedNonce }
}

/**
 * Returns orders as we last wrote them, or else loads them from the store. If
 * one has changed since, the write fails, and the next try loads it.
 */
async function takeOrders(
  { store }: OrdersContext,
  submitter: SubmitterState,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredOrder>> {
  const known = ids.map((id) => submitter.orders.takeRecorded(id))
  const found = known.filter((one) => one !== undefined)
  if (found.length < ids.length)
    return store.read((tables) => loadOrders(tables, { ids }))
  return new Map(found.map((one) => [one.order.id, one]))
}

async function writeSettled(
  { store, now }: OrdersContext,
  submitter: SubmitterState,
  changes: Changes,
  value: SubmitterValue,
): Promise<void> {
  const { nonces, lease, wallet } = submitter
  const isChanged = value !== nonces.value
  await store.write(
    async (tables) => {
      await writeChanges(tables, changes, now())
      if (isChanged)
        await tables.setValue(submitterKey(wallet.submitter), value)
    },
    { lease },
  )
  if (isChanged) nonces.keep(value)
}

async function explainAll(
  submitter: SubmitterState,
  view: SubmitterView,
  judged: readonly JudgedNonce[],
  collected: ChangeSet,
): Promise<NonceFate[]> {
  const carried = judged.flatMap((one) => storedOf(one, collected))
  const fates = await Promise.all(
    carried.map(({ one, stored }) =>
      // If the node cannot explain this payment now, continue with the rest.
      explainNonce(submitter, view, one, stored).catch((error: unknown) => {
        const name = nonceName('settle', one.nonce)
        submitter.aside.put(name, error, stored?.order.id)
        return undefined
      }),
    ),
  )
  return fates.filter((fate) => fate !== undefined)
}

/** The payments that the transactions at a nonce carry; `undefined` for none. */
function storedOf(
  one: JudgedNonce,
  collected: ChangeSet,
): { one: JudgedNonce; stored: StoredOrder | undefined }[] {
  if (one.movements.length === 0) return [{ one, stored: undefined }]
  return one.movements.map(({ orderId, attempt }) => ({
    one,
    stored: collected.find(orderId, attempt),
  }))
}

/**
 * Changes orders by what happened to the transactions at their account nonces.
 * Ignores what contradicts stored proofs of payment.
 */
function applyFates(
  submitter: SubmitterState,
  known: ReadonlyMap<string, StoredOrder>,
  fates: readonly NonceFate[],
  applyOne: (collected: ChangeSet, fate: NonceFate) => void,
): { collected: ChangeSet; fit: readonly NonceFate[] } {
  const applyAll = (some: readonly NonceFate[]): ChangeSet => {
    const collected = collectChanges(known)
    const over = findOver(some)
    const closed = new Set(over.flat())
    for (const fate of some)
      applyOne(collected, closed.has(fate) ? fate : held(fate))
    for (const group of over) collected.add({ transactions: closeRows(group) })
    return collected
  }
  const fits = (fate: NonceFate): boolean => {
    try {
      applyAll([fate])
      return true
    } catch (error) {
      const name = nonceName('settle', fate.judged.nonce)
      submitter.aside.put(name, error, fate.stored?.order.id)
      return false
    }
  }
  try {
    return { collected: applyAll(fates), fit: fates }
  } catch {
    const fit = fates.filter(fits)
    return { collected: applyAll(fit), fit }
  }
}

/**
 * Returns the fate of a payment while something can still happen to another one
 * at the same nonce. The payment is not let go before: it could be sent with
 * another account nonce, and then be let go again by this one.
 */
function held(fate: NonceFate): NonceFate {
  return { ...fate, failure: undefined, isFree: false, approval: undefined }
}

/** Finds captures that failed on chain for a reason that the payer caused. */
async function findBlamed(
  submitter: SubmitterState,
  fates: readonly NonceFate[],
): Promise<NonceFate[]> {
  const blames = await Promise.all(
    fates.map((one) => blamesPayer(submitter, one)),
  )
  return fates.filter((_, at) => blames[at])
}

/**
 * Loads the other orders of payers who made a capture fail on chain, because
 * these orders now need the merchant's review.
 */
async function loadForReview(
  context: OrdersContext,
  blamed: readonly NonceFate[],
): Promise<ReadonlyMap<string, StoredOrder>> {
  if (blamed.length === 0) return new Map()
  return context.store.read(async (tables) => {
    const ids: string[] = []
    for (const { stored } of blamed) {
      const payer = stored?.attempt.payer
      if (!stored || !payer) continue
      const { chainId, token } = stored.order
      const exposure = { chainId, token, payer }
      for (const attempt of await tables.attempts.find({ exposure }))
        ids.push(attempt.orderId)
    }
    return loadOrders(tables, { ids: unique(ids) }, (order) =>
      isInDestinations(order, context.destinations),
    )
  })
}

/**
 * Loads the transactions of orders that a final block shows as ended by the
 * payer (`withdrawn`), because their secrets are erased now.
 */
async function loadWithdrawn(
  { store }: OrdersContext,
  fates: readonly NonceFate[],
): Promise<TransactionRecord[]> {
  const ids = fates.flatMap(({ stored, evidence }) =>
    stored && evidence?.kind === 'withdrawn' ? [stored.order.id] : [],
  )
  if (ids.length === 0) return []
  return store.read((tables) => loadFinal(tables, unique(ids)))
}

/**
 * Returns when to try a failed capture again, by the rules for captures that
 * were refused before sending. Returns never if the payer caused the failure or
 * the gas was used up, because that could happen each time.
 */
function againOf(
  { policy }: OrdersContext,
  submitter: SubmitterState,
  { head }: SubmitterView,
  fate: NonceFate,
  blamed: readonly NonceFate[],
): bigint | undefined {
  const { stored, failure } = fate
  if (!stored || !failure || blamed.includes(fate)) return undefined
  if (failure.reason === 'gasTooHigh') return undefined
  return againAt(submitter, stored, failure.reason, head.timestamp, policy)
}

function applyFate(
  collected: ChangeSet,
  fate: NonceFate,
  { rules, again }: { rules: Rules; again: bigint | undefined },
): void {
  const { at } = rules
  const { judged, evidence, failure, isForeign } = fate
  const { order, attempt } = fate.stored ?? {}
  const find = () => collected.find(order?.id, attempt?.number)
  const first = find()
  if (first && isForeign) {
    const [{ account, nonce }] = judged.rows
    const data = { account, nonce }
    const shared = withEvent(first.order, { type: 'submitterShared', at, data })
    collected.add({ orders: [shared.order], events: [shared.event] })
  }
  const now = find()
  if (!now) return
  const { reason } = failure ?? {}
  const input: Input | undefined =
    evidence ??
    (reason && { kind: 'refused', reason, again }) ??
    (fate.isFree ? { kind: 'freed', approval: fate.approval } : undefined)
  if (input) collected.add(apply(now, input, rules))
}

/**
 * Returns the fates of each account nonce whose payments are all over, one group
 * for each nonce.
 */
function findOver(fates: readonly NonceFate[]): NonceFate[][] {
  const groups = new Map<JudgedNonce, NonceFate[]>()
  for (const fate of fates)
    if (fate.isOver)
      groups.set(fate.judged, [...(groups.get(fate.judged) ?? []), fate])
  return [...groups].flatMap(([{ movements }, group]) =>
    group.length >= movements.length ? [group] : [],
  )
}

/**
 * Marks the transactions at a nonce as closed. Adds the hash found on chain if
 * the wallet sent the transaction without returning its hash.
 */
function closeRows(fates: readonly NonceFate[]): TransactionRecord[] {
  // If all its orders are final, their secrets are erased. The transaction's
  // bytes contain the same signatures, so erase these too.
  const isFinal = fates.every(
    ({ stored, evidence }) =>
      stored?.order.finality === 'finalized' || evidence?.kind === 'withdrawn',
  )
  const erased = isFinal ? { raw: undefined } : {}
  const rows = fates[0]?.judged.rows ?? []
  return rows.map((row) => {
    const shown = fates.flatMap(({ evidence }) =>
      evidence?.kind === row.kind &&
      isSentBy(evidence, row.account) &&
      'proof' in evidence
        ? evidence.proof.transactionHash
        : [],
    )
    return { ...row, ...erased, hash: row.hash ?? shown[0], inFlight: false }
  })
}

function highestForeign(
  { nonces }: Pick<SubmitterState, 'nonces'>,
  fates: readonly NonceFate[],
): number | undefined {
  return fates
    .filter(({ isForeign }) => isForeign)
    .reduce(
      (highest, { judged }) => Math.max(highest ?? -1, judged.nonce),
      nonces.value.sharedNonce,
    )
}

function forgetNonces(
  submitter: SubmitterState,
  fates: readonly NonceFate[],
): void {
  const over = findOver(fates).flatMap(([first]) => first?.judged ?? [])
  submitter.inFlight.close(over.map(({ rows }) => rows))
  for (const { nonce } of over) {
    submitter.broadcasts.forget(nonce)
    submitter.nonces.forgetLost(nonce)
    clearNonce(submitter, nonce)
  }
}

function unique(ids: readonly string[]): string[] {
  return [...new Set(ids)]
}
