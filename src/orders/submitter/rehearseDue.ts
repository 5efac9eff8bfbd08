import type { Address, Hex } from 'viem'
import { hasCode } from '../../chain/state/hasCode.js'
import { CountersignError } from '../../core/CountersignError.js'
import type { SignedCancellation, SignedPayment } from '../../core/types.js'
import { wait } from '../../core/wait.js'
import { gasLimit } from '../../payments/capture/planTransaction.js'
import { buildCancellation } from '../../payments/message/buildCancellation.js'
import {
  encodeCancel,
  encodeCapture,
} from '../../payments/message/encodeCall.js'
import { wrongChain } from '../../payments/verify/judgeRehearsal.js'
import { rehearseCancel } from '../../payments/verify/rehearse.js'
import { rehearsePayments } from '../../payments/verify/rehearsePayments.js'
import type { Rehearsal } from '../../payments/verify/types.js'
import { StoreError } from '../../store/errors.js'
import { isKeyAway } from '../../store/isKeyAway.js'
import type { OrderReason } from '../../store/types.js'
import { openSealed } from '../model/openSealed.js'
import { paymentOf, sealContextOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { callFeesOf, type SubmitterFees } from './feesOf.js'
import { groupByPayer, openSeals, takePayment } from './findDue.js'
import type { DueRefusal } from './refuseDue.js'
import type { SubmitterState } from './submitterState.js'

/** A transaction that may be sent for an order. */
export type DueDraft = {
  file: StoredOrder
  kind: 'capture' | 'cancel'
  call: { to: Address; data: Hex }
  gas: bigint
}

type RehearsedDue = { file: StoredOrder } & (
  | { draft: DueDraft; reason?: undefined; failure?: undefined }
  | { reason: OrderReason; draft?: undefined; failure?: undefined }
  /** The node or a key service failed, so we know nothing about the order. */
  | { failure: CountersignError; draft?: undefined; reason?: undefined }
)

/** Some of what was rehearsed, and whether it is the last of it. */
type RehearsedGroup = {
  drafts: readonly DueDraft[]
  refused: readonly DueRefusal[]
  isLast: boolean
}

/**
 * Rehearses what is due in groups, and yields each as soon as it is there, so
 * that its orders are signed while the next ones are rehearsed. Puts aside the
 * orders about which the node said nothing.
 */
export async function* rehearseGroups(
  context: OrdersContext,
  submitter: SubmitterState,
  files: readonly StoredOrder[],
  fees: SubmitterFees,
): AsyncGenerator<RehearsedGroup> {
  const groups = groupByPayer(files)
  const coming: Promise<RehearsedDue[]>[] = []
  await openSeals(context, submitter, groups[0] ?? [])
  for (const group of groups) {
    // One is on its way before the next one takes the time.
    if (coming.length > 0) await wait(1)
    const rehearsing = rehearseDue(context, submitter, group, fees)
    // Awaited below; without this handler an early failure would be unhandled.
    rehearsing.catch(() => undefined)
    coming.push(rehearsing)
  }
  try {
    let left = coming.length
    for await (const rehearsed of asTheyEnd(coming)) {
      left--
      const sorted = sortRehearsed(context, submitter, rehearsed, fees)
      yield { ...sorted, isLast: left === 0 }
    }
  } finally {
    await Promise.allSettled(coming)
  }
}

/** Yields each result as soon as it is there, so that slow ones come last. */
async function* asTheyEnd<result>(
  works: readonly Promise<result>[],
): AsyncGenerator<result> {
  const left = new Map(
    works.map((work, at) => [at, work.then((result) => ({ at, result }))]),
  )
  while (left.size > 0) {
    const { at, result } = await Promise.race(left.values())
    left.delete(at)
    yield result
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
  for (const { file, draft, reason, failure } of rehearsed) {
    const { id } = file.order
    if (failure) aside.put(id, failure, id)
    else if (!draft) refused.push({ file, reason })
    else if (maxFee !== undefined && draft.gas * maxFeePerGas > maxFee)
      refused.push({ file, reason: 'feeTooHigh' })
    else {
      drafts.push(draft)
      aside.clear(id)
      orders.forgetDoubt(id)
    }
  }
  return { drafts, refused }
}

/** Rehearses what is due, the captures of one kind in one call. */
export async function rehearseDue(
  context: OrdersContext,
  submitter: SubmitterState,
  files: readonly StoredOrder[],
  fees: SubmitterFees,
): Promise<RehearsedDue[]> {
  const isCancel = ({ order }: StoredOrder) => order.requested === 'cancel'
  const captures = groupByKind(files.filter((file) => !isCancel(file)))
  const done = await Promise.all([
    ...captures.map((group) =>
      rehearseTogether(context, submitter, group, { fees, splits: mostSplits }),
    ),
    ...files.filter(isCancel).map((file) =>
      rehearseCancellation(context, submitter, file, fees)
        .catch((error: unknown) => failedWith(file, error))
        .then((due) => [due]),
    ),
  ])
  const byId = new Map(done.flat().map((due) => [due.file.order.id, due]))
  // In the order they came in: the soonest deadline first.
  return files.flatMap(({ order }) => byId.get(order.id) ?? [])
}

function groupByKind(files: readonly StoredOrder[]): StoredOrder[][] {
  const groups = new Map<string, StoredOrder[]>()
  for (const file of files) {
    const { token, recipient, primaryType } = file.order
    const key = `${token} ${recipient} ${primaryType}`
    const group = groups.get(key)
    if (group) group.push(file)
    else groups.set(key, [file])
  }
  return [...groups.values()]
}

/** How often a group is halved: enough to find one among hundreds. */
const mostSplits = 10

/**
 * Rehearses captures in one call. If the node fails, asks about each half, to
 * find a payment that always makes it fail and put only that one aside.
 * Payments that are not reached are due again at the next look.
 */
async function rehearseTogether(
  context: OrdersContext,
  submitter: SubmitterState,
  files: readonly StoredOrder[],
  { fees, splits }: { fees: SubmitterFees; splits: number },
): Promise<RehearsedDue[]> {
  try {
    return await rehearseCaptures(context, submitter, files, fees)
  } catch (error) {
    const [only] = files
    if (only && files.length === 1) return [failedWith(only, error)]
    if (splits === 0) return []
    const half = Math.ceil(files.length / 2)
    const before = files.slice(0, half)
    const first = await rehearseTogether(context, submitter, before, {
      fees,
      splits: splits - 1,
    })
    const isFound = first.length < half || first.some(({ failure }) => failure)
    const second = await rehearseTogether(
      context,
      submitter,
      files.slice(half),
      {
        fees,
        splits: isFound ? 0 : splits - 1,
      },
    )
    return [...first, ...second]
  }
}

/** Rethrows foreign errors: they are bugs of ours or faults of the database. */
function failedWith(file: StoredOrder, error: unknown): RehearsedDue {
  if (!(error instanceof CountersignError)) throw error
  return { file, failure: error }
}

type OpenedFile = { file: StoredOrder; payment: SignedPayment }

async function rehearseCaptures(
  context: OrdersContext,
  submitter: SubmitterState,
  files: readonly StoredOrder[],
  fees: SubmitterFees,
): Promise<RehearsedDue[]> {
  const { maxCaptureGas } = context.policy
  const origin = submitter.wallet.submitter.account
  const sendable = files.filter(({ order }) => isSender(order, origin))
  const opened = await Promise.all(
    sendable.map(async (file) => ({
      file,
      payment: await openOrWait(takePayment(context, submitter, file)),
    })),
  )
  const whole = opened.flatMap(({ file, payment }): OpenedFile[] =>
    payment && !(payment instanceof CountersignError)
      ? [{ file, payment }]
      : [],
  )
  const payments = whole.map(({ payment }) => payment)
  const refused = files.flatMap((file): RehearsedDue[] => {
    if (!sendable.includes(file)) return [{ file, reason: 'wrongSender' }]
    const payment = opened.find((one) => one.file === file)?.payment
    if (payment instanceof CountersignError) return [{ file, failure: payment }]
    return payment ? [] : [{ file, reason: 'sealBroken' }]
  })
  if (payments.length === 0) return refused
  const [{ rehearsals }, contracts] = await Promise.all([
    rehearsePayments(submitter.reader, {
      payments,
      origin,
      fees: callFeesOf(fees),
      maxGas: maxCaptureGas,
    }),
    findContracts(context, submitter, payments),
  ])
  const judged = whole.map(
    ({ file, payment }, at): RehearsedDue =>
      contracts.has(payment.message.from)
        ? { file, reason: 'contractPayer' }
        : draftOf(file, rehearsals[at], maxCaptureGas, () =>
            encodeCapture(payment),
          ),
  )
  return [...judged, ...refused]
}

/**
 * The opened secret, `undefined` if the seal is broken, or the error if its key
 * is unavailable for now.
 */
async function openOrWait<secret>(
  opening: Promise<secret | undefined>,
): Promise<secret | undefined | StoreError> {
  try {
    return await opening
  } catch (error) {
    if (isKeyAway(error)) return error
    throw error
  }
}

/** Payers that have code by now, where the policy takes none. */
async function findContracts(
  { policy }: OrdersContext,
  { reader }: SubmitterState,
  payments: readonly SignedPayment[],
): Promise<ReadonlySet<Address>> {
  if (policy.contractPayers === 'accept') return new Set()
  const payers = [...new Set(payments.map(({ message }) => message.from))]
  const found = await Promise.all(payers.map((one) => hasCode(reader, one)))
  return new Set(payers.filter((_, at) => found[at]))
}

/** A Receive payment can be submitted by its recipient only. */
function isSender(
  { primaryType, recipient }: StoredOrder['order'],
  account: Address,
): boolean {
  return primaryType !== 'ReceiveWithAuthorization' || recipient === account
}

async function rehearseCancellation(
  context: OrdersContext,
  submitter: SubmitterState,
  file: StoredOrder,
  fees: SubmitterFees,
): Promise<RehearsedDue> {
  const { maxCaptureGas } = context.policy
  const { order, attempt } = file
  if (attempt.cancellation === undefined) return { file, reason: 'sealBroken' }
  const place = sealContextOf('cancellation', order, attempt)
  const opening = openSealed(context, attempt.cancellation, place)
  const signature = await openOrWait(opening)
  if (signature === undefined) return { file, reason: 'sealBroken' }
  if (signature instanceof StoreError) return { file, failure: signature }
  const cancellation: SignedCancellation = {
    ...buildCancellation({ payment: paymentOf(order, attempt) }),
    signature: signature as Hex,
  }
  const rehearsal = await rehearseCancel(submitter.reader, cancellation, {
    origin: submitter.wallet.submitter.account,
    fees: callFeesOf(fees),
    maxGas: maxCaptureGas,
  })
  const due = draftOf(file, rehearsal, maxCaptureGas, () =>
    encodeCancel(cancellation),
  )
  return due.draft ? { ...due, draft: { ...due.draft, kind: 'cancel' } } : due
}

function draftOf(
  file: StoredOrder,
  rehearsal: Rehearsal | undefined,
  maxGas: bigint,
  encode: () => { to: Address; data: Hex },
): RehearsedDue {
  if (!rehearsal) return { file, reason: 'simulationFailed' }
  if (!rehearsal.ok) {
    // The payment is of the right chain, so the node is wrong: try again.
    if (rehearsal.reason === 'wrongChain') throw wrongChain(rehearsal)
    return { file, reason: rehearsal.reason }
  }
  const { to, data } = encode()
  const gas = gasLimit(rehearsal, maxGas)
  return { file, draft: { file, kind: 'capture', call: { to, data }, gas } }
}
