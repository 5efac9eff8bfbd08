import type { Address, Client, Hex } from 'viem'
import type { Permission } from '../../batches/keys/permission.js'
import { redeemCall, redeemGas } from '../../batches/keys/redeemCall.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { findContracts } from '../../chain/state/findContracts.js'
import { CountersignError } from '../../core/CountersignError.js'
import type { AnySignedPayment, SignedCancellation } from '../../core/types.js'
import { inTime, wait } from '../../core/wait.js'
import { gasLimit } from '../../payments/capture/planTransaction.js'
import type { LeftOut } from '../../payments/kind.js'
import { encodeCancel } from '../../payments/message/encodeCall.js'
import { wrongChain } from '../../payments/verify/judgeRehearsal.js'
import { rehearseCancel } from '../../payments/verify/rehearse.js'
import { rehearsePayments } from '../../payments/verify/rehearsePayments.js'
import type { Rehearsal } from '../../payments/verify/types.js'
import { isKeyAway } from '../../store/isKeyAway.js'
import type { OrderReason } from '../../store/types.js'
import { openSeals, takePayment, takeSecret } from '../account/openSeals.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { kindOf, requireCaptureValue, signedKindOf } from '../model/kindOf.js'
import { cancellationOf, paymentOf, sealContextOf } from '../model/paymentOf.js'
import { traitsOf } from '../model/roles.js'
import { capturesByKey } from '../model/sendersOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { callFeesOf, type SubmitterFees } from './feesOf.js'
import { findKeyFault, recallKeyFault } from './findKeyFault.js'
import { groupByPayer } from './groupByPayer.js'
import { loadPaidInWindow } from './loadPaidInWindow.js'
import type { DueRefusal } from './refuseDue.js'
import { refuseOverdrawn, type Taken } from './refuseOverdrawn.js'

/** A transaction for an order whose simulation succeeded. */
export type DueDraft = {
  stored: StoredOrder
  kind: 'capture' | 'cancel'
  call: { to: Address; data: Hex }
  gas: bigint
  /** Channels that the transaction of a claim leaves out. */
  leftOut?: readonly LeftOut[] | undefined
}

type RehearsedDue = { stored: StoredOrder } & (
  | { draft: DueDraft; reason?: undefined; failure?: undefined }
  | { reason: OrderReason; draft?: undefined; failure?: undefined }
  /** The node or a key service failed, so nothing is known about the order. */
  | { failure: CountersignError; draft?: undefined; reason?: undefined }
)

type TakenDue = RehearsedDue & { taken?: Taken | undefined }

type RehearsedGroup = {
  drafts: readonly DueDraft[]
  refused: readonly DueRefusal[]
  /**
   * True when only charges of subscriptions are left to simulate. Finished
   * drafts are sent without waiting for them.
   */
  isLast: boolean
}

/**
 * Simulates due orders in groups with `eth_call`, and yields each group as soon
 * as it is ready, so that its orders are signed while the next group is
 * simulated. Orders for which the node or the key service failed are tried
 * again later.
 */
export async function* rehearseGroups(
  context: OrdersContext,
  submitter: SubmitterState,
  storedOrders: readonly StoredOrder[],
  fees: SubmitterFees,
): AsyncGenerator<RehearsedGroup> {
  const [charges, others] = splitCharges(context, storedOrders)
  const quick = groupByPayer(others)
  const groups = [...quick, ...groupByPayer(charges)]
  const coming: Promise<RehearsedDue[]>[] = []
  await openSeals(context, submitter, groups[0] ?? [])
  for (const group of groups) {
    // Let the requests of the last group be sent before the next group is
    // prepared.
    if (coming.length > 0) await wait(1)
    const rehearsing = openSeals(context, submitter, group).then((open) =>
      rehearseDue(context, submitter, open, fees),
    )
    // The result is awaited below. Without this handler, a failure before that
    // would be an unhandled rejection.
    rehearsing.catch(() => undefined)
    coming.push(rehearsing)
  }
  try {
    let left = quick.length
    for await (const { at, result } of asTheyEnd(coming)) {
      if (at < quick.length) left--
      const sorted = sortRehearsed(context, submitter, result, fees)
      yield { ...sorted, isLast: left === 0 }
    }
  } finally {
    await Promise.allSettled(coming)
  }
}

/**
 * Separates charges of subscriptions, whose kind has its own simulation. It may
 * read many old blocks, and captures must not wait for that.
 */
function splitCharges(
  context: OrdersContext,
  storedOrders: readonly StoredOrder[],
): [charges: StoredOrder[], others: StoredOrder[]] {
  const isCharge = ({ order }: StoredOrder) =>
    kindOf(context, order).settling !== undefined
  return [
    storedOrders.filter(isCharge),
    storedOrders.filter((stored) => !isCharge(stored)),
  ]
}

/**
 * Yields each result with its position as soon as it is ready, so that slow
 * ones delay no others.
 */
async function* asTheyEnd<result>(
  works: readonly Promise<result>[],
): AsyncGenerator<{ at: number; result: result }> {
  const left = new Map(
    works.map((work, at) => [at, work.then((result) => ({ at, result }))]),
  )
  while (left.size > 0) {
    const first = await Promise.race(left.values())
    left.delete(first.at)
    yield first
  }
}

function sortRehearsed(
  { policy: { maxFee } }: OrdersContext,
  { aside, orders }: SubmitterState,
  rehearsed: readonly RehearsedDue[],
  { maxFeePerGas }: SubmitterFees,
): Pick<RehearsedGroup, 'drafts' | 'refused'> {
  const drafts: DueDraft[] = []
  const refused: DueRefusal[] = []
  for (const { stored, draft, reason, failure } of rehearsed) {
    const { id } = stored.order
    if (failure) aside.put(id, failure, id)
    else if (!draft) refused.push({ stored, reason })
    else if (maxFee !== undefined && draft.gas * maxFeePerGas > maxFee)
      refused.push({ stored, reason: 'feeTooHigh' })
    else {
      drafts.push(draft)
      aside.clear(id)
      orders.forgetDoubt(id)
    }
  }
  return { drafts, refused }
}

/**
 * Simulates due orders without sending them. Captures of the same token,
 * recipient and type share one call, to save requests.
 */
export async function rehearseDue(
  context: OrdersContext,
  submitter: SubmitterState,
  storedOrders: readonly StoredOrder[],
  fees: SubmitterFees,
): Promise<RehearsedDue[]> {
  const isCancel = ({ order }: StoredOrder) => order.requested === 'cancel'
  const [charges, others] = splitCharges(context, storedOrders)
  const captures = groupByKind(others.filter((stored) => !isCancel(stored)))
  const done: TakenDue[][] = await Promise.all([
    ...charges.map((stored) =>
      inTime(
        rehearseCharge(context, submitter, stored),
        context.policy.lease / 3,
        throwLate,
      )
        .catch((error: unknown) => failedWith(stored, error))
        .then((due) => [due]),
    ),
    ...captures.map((group) =>
      rehearseTogether(context, submitter, group, { fees, splits: mostSplits }),
    ),
    ...others.filter(isCancel).map((stored) =>
      rehearseCancellation(context, submitter, stored, fees)
        .catch((error: unknown) => failedWith(stored, error))
        .then((due) => [due]),
    ),
  ])
  const byId = new Map(done.flat().map((due) => [due.stored.order.id, due]))
  // Keep the order of `storedOrders`, with the soonest deadline first.
  return refuseOverdrawn<TakenDue>(
    storedOrders.flatMap(({ order }) => byId.get(order.id) ?? []),
    (stored) => ({ stored, reason: 'insufficientFunds' }),
  )
}

function throwLate(): never {
  throw new NodeAnswerError({
    method: 'eth_call',
    problem: 'did not come in time',
  })
}

function groupByKind(storedOrders: readonly StoredOrder[]): StoredOrder[][] {
  const groups = new Map<string, StoredOrder[]>()
  for (const stored of storedOrders) {
    const { token, recipient, kind, primaryType } = stored.order
    const { isPaidByUs } = traitsOf(stored.order)
    const key = `${token} ${recipient} ${kind} ${primaryType} ${isPaidByUs}`
    const group = groups.get(key)
    if (group) group.push(stored)
    else groups.set(key, [stored])
  }
  return [...groups.values()]
}

/**
 * How often a group is split in half: enough to find one payment among
 * hundreds.
 */
const mostSplits = 10

/**
 * Simulates captures in one call. If the node fails, tries each half, to find a
 * payment that always makes the call fail. Only that payment waits for its next
 * try. Payments that were not reached are due again at the next poll.
 */
async function rehearseTogether(
  context: OrdersContext,
  submitter: SubmitterState,
  storedOrders: readonly StoredOrder[],
  { fees, splits }: { fees: SubmitterFees; splits: number },
): Promise<TakenDue[]> {
  try {
    return await rehearseCaptures(context, submitter, storedOrders, fees)
  } catch (error) {
    const [only] = storedOrders
    if (only && storedOrders.length === 1) return [failedWith(only, error)]
    if (splits === 0) return []
    const half = Math.ceil(storedOrders.length / 2)
    const before = storedOrders.slice(0, half)
    const first = await rehearseTogether(context, submitter, before, {
      fees,
      splits: splits - 1,
    })
    const isFound = first.length < half || first.some(({ failure }) => failure)
    const second = await rehearseTogether(
      context,
      submitter,
      storedOrders.slice(half),
      {
        fees,
        splits: isFound ? 0 : splits - 1,
      },
    )
    return [...first, ...second]
  }
}

/**
 * Returns a failure of our own error classes as the result for an order. Throws
 * all other errors, because they are bugs or database faults.
 */
function failedWith(stored: StoredOrder, error: unknown): RehearsedDue {
  if (!(error instanceof CountersignError)) throw error
  return { stored, failure: error }
}

type OpenedFile = {
  stored: StoredOrder
  payment: AnySignedPayment
  amount: bigint
}

async function rehearseCaptures(
  context: OrdersContext,
  submitter: SubmitterState,
  storedOrders: readonly StoredOrder[],
  fees: SubmitterFees,
): Promise<TakenDue[]> {
  const { maxCaptureGas } = context.policy
  const origin = submitter.wallet.submitter.account
  const [first] = storedOrders
  if (!first) return []
  const kind = signedKindOf(context, first.order)
  const sendable = storedOrders.filter((stored) =>
    isSender(context, stored, submitter.wallet),
  )
  const opened = await Promise.all(
    sendable.map(async (stored) => ({
      stored,
      payment: await openOrWait(takePayment(context, submitter, stored)),
    })),
  )
  const whole = opened.flatMap(({ stored, payment }): OpenedFile[] =>
    payment && !(payment instanceof CountersignError)
      ? [{ stored, payment, amount: requireCaptureValue(stored.order) }]
      : [],
  )
  const payments = whole.map(({ payment }) => payment)
  const { wallet, reader } = submitter
  const key = capturesByKey(wallet, first.order) ? wallet.key : undefined
  const refused = storedOrders.flatMap((stored): RehearsedDue[] => {
    if (!sendable.includes(stored))
      return [{ stored, reason: 'wrongSubmitter' }]
    const payment = opened.find((one) => one.stored === stored)?.payment
    if (payment instanceof CountersignError)
      return [{ stored, failure: payment }]
    return payment ? [] : [{ stored, reason: 'sealBroken' }]
  })
  if (payments.length === 0) return refused
  const failAll = (fault: CountersignError) => [
    ...refused,
    ...whole.map(({ stored }) => failedWith(stored, fault)),
  ]
  const known = key && recallKeyFault(key)
  if (known) return failAll(known)
  const [fault, { rehearsals, payerBalances }, contracts] = await Promise.all([
    key && askForFault(context, reader, key),
    rehearsePayments(reader, {
      payments,
      kind,
      amounts: whole.map(({ amount }) => amount),
      origin,
      fees: callFeesOf(fees),
      maxGas: maxCaptureGas,
    }),
    context.policy.contractPayers === 'refuse'
      ? findContracts(
          reader,
          payments.map(({ message }) => message.from),
        )
      : new Set(),
  ])
  if (fault) return failAll(fault)
  const judged = whole.map(({ stored, payment, amount }, at): TakenDue => {
    const { from: payer, value: pulled } = payment.message
    if (!traitsOf(stored.order).isPaidByUs && contracts.has(payer))
      return { stored, reason: 'contractPayer' }
    const plain = draftOf(stored, rehearsals[at], maxCaptureGas, () =>
      kind.encodeCapture(payment, amount),
    )
    const due = key ? throughKey(plain, key) : plain
    const balance = payerBalances[at]
    return balance === undefined
      ? due
      : { ...due, taken: { payer, balance, pulled, amount } }
  })
  return [...judged, ...refused]
}

/**
 * Finds out why a key cannot capture now, also if the node does not tell: no
 * payment of the key is at fault then, so none is searched for by halves.
 */
async function askForFault(
  { policy }: OrdersContext,
  reader: Client,
  key: Permission,
): Promise<CountersignError | undefined> {
  try {
    return await inTime(findKeyFault(reader, key), policy.lease / 3, throwLate)
  } catch (error) {
    if (error instanceof CountersignError) return error
    throw error
  }
}

/**
 * Returns the decrypted secret, `undefined` if it cannot be decrypted, or the
 * error if the sealer or its key is unavailable for now.
 */
async function openOrWait<secret>(
  opening: Promise<secret | undefined>,
): Promise<secret | undefined | CountersignError> {
  try {
    return await opening
  } catch (error) {
    if (isKeyAway(error)) return error
    throw error
  }
}

/** True when the wallet can submit the capture. */
function isSender(
  context: OrdersContext,
  { order, attempt }: StoredOrder,
  wallet: OrderWallet,
): boolean {
  if (capturesByKey(wallet, order)) return true
  const payment = paymentOf(context, order, attempt)
  const { operator } = kindOf(context, order).accounts(payment)
  return operator === undefined || operator === wallet.submitter.account
}

/** Has a capture made in the name of the treasury. */
function throughKey(due: RehearsedDue, key: Permission): RehearsedDue {
  const { draft } = due
  if (!draft) return due
  const call = redeemCall(key.permission, draft.call)
  const gas = draft.gas + redeemGas(key)
  return { ...due, draft: { ...draft, call, gas } }
}

async function rehearseCancellation(
  context: OrdersContext,
  submitter: SubmitterState,
  stored: StoredOrder,
  fees: SubmitterFees,
): Promise<RehearsedDue> {
  const { maxCaptureGas } = context.policy
  const { order, attempt } = stored
  if (attempt.cancellation === undefined)
    return { stored, reason: 'sealBroken' }
  const place = sealContextOf('cancellation', order, attempt)
  const secret = { sealed: attempt.cancellation, place }
  const signature = await openOrWait(takeSecret(context, submitter, secret))
  if (signature === undefined) return { stored, reason: 'sealBroken' }
  if (signature instanceof CountersignError)
    return { stored, failure: signature }
  const cancellation: SignedCancellation = {
    ...cancellationOf(context, order, attempt),
    signature: signature as Hex,
  }
  const rehearsal = await rehearseCancel(submitter.reader, cancellation, {
    origin: submitter.wallet.submitter.account,
    fees: callFeesOf(fees),
    maxGas: maxCaptureGas,
  })
  const due = draftOf(stored, rehearsal, maxCaptureGas, () =>
    encodeCancel(cancellation),
  )
  return due.draft ? { ...due, draft: { ...due.draft, kind: 'cancel' } } : due
}

/**
 * Simulates a charge of a subscription or a movement of channels, whose kinds
 * have their own simulation.
 */
async function rehearseCharge(
  context: OrdersContext,
  submitter: SubmitterState,
  stored: StoredOrder,
): Promise<RehearsedDue> {
  const { order } = stored
  const { account } = submitter.wallet.submitter
  if (!isSender(context, stored, submitter.wallet))
    return { stored, reason: 'wrongSubmitter' }
  const action = order.requested === 'cancel' ? 'cancel' : 'capture'
  // To cancel a subscription, the spender revokes the spend permission. That
  // takes no signature of the payer, so a signature that cannot be decrypted
  // does not matter.
  const payment =
    action === 'cancel'
      ? unsignedOf(context, stored)
      : await openOrWait(takePayment(context, submitter, stored))
  if (payment === undefined) return { stored, reason: 'sealBroken' }
  if (payment instanceof CountersignError) return { stored, failure: payment }
  const { settling } = kindOf(context, order)
  const rehearsed = await settling?.rehearse(submitter.reader, {
    payment,
    action,
    account,
    getKnown: () => loadPaidInWindow(context, stored),
  })
  if (!rehearsed) return { stored, reason: 'simulationFailed' }
  if (!rehearsed.ok) return { stored, reason: rehearsed.reason }
  const { call, gas, leftOut } = rehearsed
  return { stored, draft: { stored, kind: action, call, gas, leftOut } }
}

function unsignedOf(
  context: OrdersContext,
  { order, attempt }: StoredOrder,
): AnySignedPayment {
  return { ...paymentOf(context, order, attempt), signature: '0x' }
}

function draftOf(
  stored: StoredOrder,
  rehearsal: Rehearsal | undefined,
  maxGas: bigint,
  encode: () => { to: Address; data: Hex },
): RehearsedDue {
  if (!rehearsal) return { stored, reason: 'simulationFailed' }
  if (!rehearsal.ok) {
    // The payment names the right chain, so the node itself is on another one:
    // try again later.
    if (rehearsal.reason === 'wrongChain') throw wrongChain(rehearsal)
    return { stored, reason: rehearsal.reason }
  }
  const { to, data } = encode()
  const gas = gasLimit(rehearsal, maxGas)
  return { stored, draft: { stored, kind: 'capture', call: { to, data }, gas } }
}
