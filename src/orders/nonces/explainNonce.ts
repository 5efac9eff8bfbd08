import type { Address } from 'viem'
import type { BlockHead } from '../../chain/rpc/requestNode.js'
import { checkChain } from '../../chain/state/checkChain.js'
import { readSpent } from '../../chain/state/getAuthorizationState.js'
import { hasCode } from '../../chain/state/hasCode.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { explainRevert } from '../../payments/capture/explainRevert.js'
import { carries, movementsOf } from '../../store/movements.js'
import type {
  Movement,
  OrderReason,
  TransactionRecord,
} from '../../store/types.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import { groupByNonce, type InFlight } from '../account/inFlight.js'
import {
  choosesNonce,
  type NonceChoice,
  nonceName,
  type SubmitterState,
} from '../account/submitterState.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { endsOf } from '../model/endsOf.js'
import { kindOf } from '../model/kindOf.js'
import { paymentOf } from '../model/paymentOf.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import { isInFlight } from '../model/rejectOrder.js'
import { traitsOf } from '../model/roles.js'
import type { Evidence } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { failsByKey } from './failsByKey.js'

/**
 * An account nonce, our transactions at it, and what the chain shows about
 * them.
 */
export type JudgedNonce = {
  nonce: number
  /**
   * Our transactions in flight at the nonce, sorted by `bump`, the number of
   * replacements before each.
   */
  rows: readonly [TransactionRecord, ...TransactionRecord[]]
  /** The payments that these transactions carry. */
  movements: readonly Movement[]
  /**
   * True when the transactions can only revert, because the permission of the
   * capture key has ended.
   */
  isEnded?: boolean | undefined
} & (
  | { kind: 'mined'; row: TransactionRecord; receipt: ProofReceipt }
  /**
   * The account's transaction count is past the nonce, but none of our
   * transactions at it has a receipt.
   */
  | { kind: 'passed' }
  /**
   * A wallet that sends by itself may have sent this transaction, but returned
   * no hash.
   */
  | { kind: 'unknown' }
  | { kind: 'pending' }
)

/**
 * Groups transactions in flight by account nonce, and decides what happened to
 * each nonce: mined, passed without a receipt, unknown or pending.
 */
export function judgeNonces(
  submitter: NonceChoice & { inFlight: Pick<InFlight, 'rows'> },
  { receipts, count }: Pick<SubmitterView, 'receipts' | 'count'>,
): JudgedNonce[] {
  const keepsNonce = choosesNonce(submitter)
  return groupByNonce(submitter.inFlight.rows).map((rows): JudgedNonce => {
    const [{ nonce }] = rows
    const shared = { nonce, rows, movements: movementsOf(rows) }
    const mined = findMined(rows, receipts, keepsNonce)
    if (mined) return { ...shared, kind: 'mined', ...mined }
    // The wallet may use another nonce than ours, so the account's transaction
    // count proves nothing about this one.
    if (!keepsNonce) return { ...shared, kind: 'unknown' }
    if (nonce < count) return { ...shared, kind: 'passed' }
    const isUnknown = rows.some(({ hash }) => hash === undefined)
    return { ...shared, kind: isUnknown ? 'unknown' : 'pending' }
  })
}

type Mined = { row: TransactionRecord; receipt: ProofReceipt }

/**
 * Finds the mined transaction at a nonce. If the wallet chooses its own nonces,
 * several of our rows can be mined. Then a filler (a transaction that only uses
 * up the nonce) counts only if no other row is mined, and a failure counts only
 * once all rows are mined.
 */
function findMined(
  rows: readonly TransactionRecord[],
  receipts: SubmitterView['receipts'],
  keepsNonce: boolean,
): Mined | undefined {
  const others = rows.filter(({ kind }) => kind !== 'filler')
  const deciding = keepsNonce || others.length === 0 ? rows : others
  const mined = deciding.flatMap((row): Mined[] => {
    const receipt = row.hash && receipts.get(row.hash)
    return receipt ? [{ row, receipt }] : []
  })
  if (keepsNonce) return mined[0]
  const success = mined.find(({ receipt }) => receipt.status === 'success')
  return success ?? (mined.length === deciding.length ? mined[0] : undefined)
}

/**
 * What became of one payment that the transactions at an account nonce carry.
 */
export type NonceFate = {
  judged: JudgedNonce
  /** Absent if the transactions carry none: they are fillers. */
  stored: StoredOrder | undefined
  evidence?: Evidence | undefined
  /**
   * Why no transaction at this nonce captured or canceled the payment, and none
   * can any more.
   */
  failure?: { reason: OrderReason; isRevert: boolean } | undefined
  /** True when nothing more can happen to the payment at this nonce. */
  isOver: boolean
  isForeign?: boolean | undefined
  /**
   * True when the payment nonce is unused, so that the order may be sent with
   * another account nonce.
   */
  isFree?: boolean | undefined
  /**
   * The transaction that approved the spend permission of a charge. The charge
   * itself is sent next.
   */
  approval?: ProofReceipt | undefined
}

/**
 * Milliseconds by which a node's receipts may appear later than its transaction
 * count.
 */
const receiptLag = 2000

/** Checks that need several requests run only at every eighth poll. */
const looksApart = 8

/**
 * Finds out what the chain shows about one payment that the transactions at an
 * account nonce carry. Needs no request if a receipt shows it. Returns
 * `undefined` while the answers do not prove anything.
 */
export async function explainNonce(
  submitter: SubmitterState,
  view: SubmitterView,
  judged: JudgedNonce,
  stored: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  switch (judged.kind) {
    case 'pending':
      return judged.isEnded
        ? explainEnded(submitter, view, judged, stored)
        : undefined
    case 'mined':
      return explainMined(submitter, view, judged, stored)
    case 'passed':
      return explainPassed(submitter, view, judged, stored)
    case 'unknown':
      return judged.isEnded
        ? explainEnded(submitter, view, judged, stored)
        : explainUnknown(submitter, view, judged, stored)
  }
}

/**
 * Lets go of a payment whose transactions can only revert, so that another
 * wallet can capture it.
 */
async function explainEnded(
  submitter: SubmitterState,
  { head }: SubmitterView,
  judged: JudgedNonce,
  stored: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  if (!stored || !isUndecided(stored)) return { judged, stored, isOver: true }
  const { reader, kinds } = submitter
  const evidence = await findEvidence(reader, { ...stored, kinds })
  if (evidence) return { judged, stored, evidence, isOver: false }
  const isFree = await isUnused(submitter, stored, head)
  return isFree ? { judged, stored, isFree, isOver: true } : undefined
}

type Judged<kind extends JudgedNonce['kind']> = Extract<
  JudgedNonce,
  { kind: kind }
>

async function explainMined(
  submitter: SubmitterState,
  { blockTimes }: SubmitterView,
  judged: Judged<'mined'>,
  stored: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  const { row, receipt } = judged
  const time = blockTimes.get(receipt.blockNumber)
  const proof =
    stored && time !== undefined && row.kind !== 'filler'
      ? proofRecordOf(submitter, receipt, stored, time)
      : undefined
  if (proof) {
    const kind = proof.kind === 'cancel' ? 'cancel' : 'capture'
    return { judged, stored, evidence: { kind, proof }, isOver: true }
  }
  if (!stored || !isUndecided(stored)) return { judged, stored, isOver: true }
  const evidence = await findEvidence(submitter.reader, {
    ...stored,
    kinds: submitter.kinds,
  })
  if (evidence) return { judged, stored, evidence, isOver: true }
  // The receipt does not say why this one of several payments was not captured,
  // or the payment was left out of the replacement that was mined. If its
  // payment nonce is unused, it is sent again by itself.
  if (!isAlone(judged, stored)) {
    const head = { number: receipt.blockNumber, timestamp: time ?? 0n }
    const isFree = await isUnused(submitter, stored, head)
    return isFree ? { judged, stored, isFree, isOver: true } : undefined
  }
  if (row.kind === 'filler') {
    const reason = stored.order.reason ?? 'deadlinePassed'
    return {
      judged,
      stored,
      failure: { reason, isRevert: false },
      isOver: true,
    }
  }
  const kind = kindOf(submitter, stored.order)
  const isSuccess = receipt.status === 'success'
  // Without the time of its block, it is not clear yet what the receipt proves.
  if (kind.settling && isSuccess && time === undefined) return undefined
  const payment = paymentOf(submitter, stored.order, stored.attempt)
  // A charge of a subscription can need several transactions, such as an
  // approval first. Send the next one. An approval also succeeds without effect
  // if the permission is approved or revoked already.
  if (kind.settling && isSuccess) {
    const isApproved = kind.settling.approves(receipt, payment)
    const approval = isApproved ? receipt : undefined
    return { judged, stored, isFree: true, approval, isOver: true }
  }
  const about = { nonce: judged.nonce, orderId: stored.order.id }
  const isByKey = await failsByKey(submitter, judged, stored.order).catch(
    (error: unknown) => postponeReason(submitter, about, error),
  )
  if (isByKey === undefined) return undefined
  if (isByKey === true) return { judged, stored, isFree: true, isOver: true }
  const explaining = kind.settling
    ? kind.settling.explain(submitter.reader, payment, receipt)
    : explainRevert(submitter.reader, receipt, { payment, kind }).then(
        (error) => error.reason,
      )
  const reason = await explaining.catch((error: unknown) =>
    postponeReason(submitter, about, error),
  )
  return reason === undefined
    ? undefined
    : { judged, stored, failure: { reason, isRevert: true }, isOver: true }
}

/**
 * Milliseconds. Once the pause between tries is longer than this, stop asking
 * the node for the reason of a failure.
 */
const longestWait = 3000

/**
 * Makes a nonce wait for its next try, because the node did not return the
 * reason of a failure. Returns `undefined` to try again later, and
 * `simulationFailed` once that took too long.
 */
function postponeReason(
  submitter: SubmitterState,
  { nonce, orderId }: { nonce: number; orderId: string },
  error: unknown,
): 'simulationFailed' | undefined {
  const pause = submitter.aside.put(nonceName('settle', nonce), error, orderId)
  return pause > longestWait ? 'simulationFailed' : undefined
}

/**
 * Explains an account nonce that is below the account's transaction count,
 * without a receipt of our transactions. Either someone else used the nonce, or
 * the node's answers are from different blocks.
 */
async function explainPassed(
  submitter: SubmitterState,
  view: Pick<SubmitterView, 'head' | 'safe'>,
  judged: Judged<'passed'>,
  stored: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  const { nonce } = judged
  const { nonces, reader, pace } = submitter
  const lost = nonces.noticeLost(nonce, pace.looks)
  // A node's receipts can appear later than its transaction count, and nodes
  // behind one URL can differ by a block. So wait.
  if (lost.looks < 2 || performance.now() - lost.since < receiptLag)
    return undefined
  await checkChain(reader, submitter.wallet.submitter.chainId)
  const { safe, safeCount = 0 } = await view.safe()
  const isSafe = safe !== undefined && safeCount > nonce
  const unsure = judged.rows.filter(({ hash }) => hash === undefined)
  // A filler whose hash only the wallet knows may have used the nonce. Then the
  // account was not used by someone else.
  const isFiller = unsure.some(({ kind }) => kind === 'filler')
  const isForeign = !isFiller && nonce > (nonces.value.sharedNonce ?? -1)
  if (!isSafe && !isForeign && lost.looks % looksApart !== 0) return undefined
  if (!stored || !isUndecided(stored))
    return { judged, stored, isForeign, isOver: isSafe }
  const evidence = await findEvidence(reader, {
    ...stored,
    kinds: submitter.kinds,
  })
  if (evidence) {
    // The wallet sent these transactions itself, so we have no bytes to send
    // again. If our account sent the transaction that decided the order, the
    // nonce is done.
    const isHashless = judged.rows.every(({ hash }) => hash === undefined)
    const isSentByUs = isHashless && isSentBy(evidence, judged.rows[0].account)
    const isReported = isForeign && !isSentByUs
    return {
      judged,
      stored,
      evidence,
      isForeign: isReported,
      isOver: isSafe || isSentByUs,
    }
  }
  // Without the transaction's hash, we do not know whether it has this nonce.
  const isKnown = unsure.every(({ kind }) => kind === 'filler')
  const isDead = isKnown || view.head.timestamp >= endOf(judged, stored)
  // No such transaction can succeed, whether or not it has this nonce.
  const isLost = judged.isEnded || (isSafe && isDead)
  const below = isSafe ? safe : view.head
  const isFree = isLost && (await isUnused(submitter, stored, below))
  return { judged, stored, isForeign, isFree, isOver: isFree }
}

/** True if the mined transaction was about this payment alone. */
function isAlone(
  { row, movements }: Judged<'mined'>,
  { order, attempt }: StoredOrder,
): boolean {
  const own = row.kind === 'filler' ? movements : row.movements
  return (
    own.length === 1 && carries({ movements: own }, order.id, attempt.number)
  )
}

/** True while the order is in flight and this attempt is its newest one. */
function isUndecided({ order, attempt }: StoredOrder): boolean {
  return order.attempt === attempt.number && isInFlight(order)
}

/** True when this account submitted the capture or cancellation. */
export function isSentBy(evidence: Evidence, account: Address): boolean {
  const isProof = evidence.kind === 'capture' || evidence.kind === 'cancel'
  return isProof && evidence.proof.submitter === account
}

/**
 * Explains a nonce whose transaction the wallet may have sent. An undecided
 * order does not fail before its window ends, because that transaction may
 * still be mined.
 */
async function explainUnknown(
  submitter: SubmitterState,
  { head, count }: SubmitterView,
  judged: Judged<'unknown'>,
  stored: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  const { nonce } = judged
  const { broadcasts, pace } = submitter
  if (broadcasts.sentAt(nonce) === pace.looks) return undefined
  if (!isTimeToLook(submitter, nonce, count)) return undefined
  const keepsNonce = choosesNonce(submitter)
  // If the wallet chooses its own nonces, no later transaction waits for this
  // filler.
  if (!stored) return keepsNonce ? undefined : { judged, stored, isOver: true }
  const evidence = isUndecided(stored)
    ? await findEvidence(submitter.reader, {
        ...stored,
        kinds: submitter.kinds,
      })
    : undefined
  // The wallet uses the nonces that we give it, so this nonce stays reserved.
  // If no transaction uses it, `fillGaps` sends an empty one later.
  if (keepsNonce) return evidence && { judged, stored, evidence, isOver: false }
  if (evidence || !isUndecided(stored))
    return { judged, stored, evidence, isOver: true }
  // The window has ended at `head`, and `isUnused` checks the nonce at this
  // block or a later one. So the payment cannot be captured any more.
  if (head.timestamp < endOf(judged, stored)) return undefined
  if (!(await isUnused(submitter, stored, head))) return undefined
  const failure = { reason: 'expired', isRevert: false } as const
  return { judged, stored, failure, isOver: true }
}

/**
 * Returns the Unix second from which the transaction at a nonce is too late.
 */
function endOf({ rows }: JudgedNonce, { attempt }: StoredOrder): bigint {
  return endsOf(attempt)[rows[0].kind === 'cancel' ? 'cancel' : 'capture']
}

/**
 * True soon after the account's transaction count has passed a nonce, and then
 * at every eighth poll.
 */
function isTimeToLook(
  { nonces, pace }: Pick<SubmitterState, 'nonces' | 'pace'>,
  nonce: number,
  count: number,
): boolean {
  const isTurn = pace.looks % looksApart === 1
  if (nonce >= count) return isTurn
  return nonces.noticeLost(nonce, pace.looks).looks === 2 || isTurn
}

/**
 * True when the payment nonce is unused at the newest block. Then it was unused
 * at the earlier block `below` too, whose state the node may no longer have. The
 * payer can end a permit without a log: it counts as unused if it was not
 * captured, and is refused once it is simulated again.
 */
async function isUnused(
  submitter: SubmitterState,
  { order, attempt }: StoredOrder,
  below: BlockHead,
): Promise<boolean> {
  const payment = paymentOf(submitter, order, attempt)
  const kind = kindOf(submitter, order)
  // A charge has no payment nonce on chain. `findEvidence` has just searched
  // for the charge up to the newest block, and found none.
  if (kind.settling) return true
  const spentCall =
    kind.permit?.capturedCall(payment) ?? kind.spentCall(payment)
  const { consumed, head } = await readSpent(
    submitter.reader,
    spentCall,
    'latest',
  )
  return !consumed && head.timestamp >= below.timestamp
}

/**
 * Failures with these reasons do not count against the payer's other orders,
 * because others cause them. (A payer who signs late can cause those about
 * time.) All other reasons count, even `simulationFailed`: a payer's contract
 * wallet can revert without a reason.
 */
const othersReasons: readonly OrderReason[] = [
  'paused',
  'recipientBlocked',
  'unsupportedToken',
  'wrongDomain',
  'wrongChain',
  'wrongSubmitter',
  'notYetValid',
  'expired',
  'deadlinePassed',
]

/**
 * True when the payer caused a capture to fail on chain, although its
 * simulation had succeeded.
 */
export async function blamesPayer(
  submitter: SubmitterState,
  { judged, stored, failure, evidence }: NonceFate,
): Promise<boolean> {
  // The merchant is not blamed for a refund, and the schedule of a subscription
  // counts failed charges itself.
  if (stored && !traitsOf(stored.order).hasBuyer) return false
  if (!failure) {
    const isReverted =
      judged.kind === 'mined' &&
      judged.receipt.status === 'reverted' &&
      judged.movements.length === 1
    return isReverted && ['cancel', 'consumed'].includes(evidence?.kind ?? '')
  }
  const { reason, isRevert } = failure
  if (!isRevert || othersReasons.includes(reason)) return false
  if (reason !== 'gasTooHigh' || !stored) return true
  // Only code of the payer can use more gas than the simulation did.
  const { from } = paymentOf(submitter, stored.order, stored.attempt).message
  const found = await hasCode(submitter.reader, from).catch(() => undefined)
  return found ?? true
}
