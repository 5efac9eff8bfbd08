import type { Address } from 'viem'
import type { BlockHead } from '../../chain/rpc/requestNode.js'
import { checkChain } from '../../chain/state/checkChain.js'
import { readSpent } from '../../chain/state/getAuthorizationState.js'
import { hasCode } from '../../chain/state/hasCode.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { explainRevert } from '../../payments/capture/explainRevert.js'
import type { OrderReason, TransactionRecord } from '../../store/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { endsOf } from '../model/endsOf.js'
import { kindOf } from '../model/kindOf.js'
import { paymentOf } from '../model/paymentOf.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import { isScheduled } from '../model/scheduled.js'
import type { Evidence } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { SubmitterView } from './getSubmitterView.js'
import { groupByNonce, type InFlight } from './inFlight.js'
import { isInFlight } from './rejectOrder.js'
import {
  choosesNonce,
  type NonceChoice,
  nonceName,
  type SubmitterState,
} from './submitterState.js'

/** An account nonce, our transactions at it, and what the chain shows. */
export type JudgedNonce = {
  nonce: number
  /**
   * Our transactions in flight at the nonce, sorted by `bump`, which counts
   * replacements.
   */
  rows: readonly [TransactionRecord, ...TransactionRecord[]]
} & (
  | { kind: 'mined'; row: TransactionRecord; receipt: ProofReceipt }
  /**
   * The account's count is past the nonce, and none of our hashes has a
   * receipt.
   */
  | { kind: 'passed' }
  /** A wallet that sends by itself may have sent this, and gave us no hash. */
  | { kind: 'unknown' }
  | { kind: 'pending' }
)

/**
 * Groups transactions in flight by account nonce and tells what became of each
 * nonce: mined, passed, unknown or pending. Pure.
 */
export function judgeNonces(
  submitter: NonceChoice & { inFlight: Pick<InFlight, 'rows'> },
  { receipts, count }: Pick<SubmitterView, 'receipts' | 'count'>,
): JudgedNonce[] {
  const keepsNonce = choosesNonce(submitter)
  return groupByNonce(submitter.inFlight.rows).map((rows): JudgedNonce => {
    const [{ nonce }] = rows
    const mined = findMined(rows, receipts, keepsNonce)
    if (mined) return { nonce, rows, kind: 'mined', ...mined }
    // The wallet may choose its own nonces, so the count proves nothing about
    // ours.
    if (!keepsNonce) return { nonce, rows, kind: 'unknown' }
    if (nonce < count) return { nonce, rows, kind: 'passed' }
    const isUnknown = rows.some(({ hash }) => hash === undefined)
    return { nonce, rows, kind: isUnknown ? 'unknown' : 'pending' }
  })
}

type Mined = { row: TransactionRecord; receipt: ProofReceipt }

/**
 * Finds the mined row at a nonce. If the wallet may choose its own nonces,
 * several rows can be mined. Then a row that only fills the nonce counts only
 * if there is no other, and a failure counts only once every other row is mined
 * too.
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

export type NonceFate = {
  judged: JudgedNonce
  stored: StoredOrder | undefined
  evidence?: Evidence | undefined
  /** Why no transaction at the nonce decided the order, and none will. */
  failure?: { reason: OrderReason; isRevert: boolean } | undefined
  /** True when nothing can happen at this nonce any more. */
  isOver: boolean
  isForeign?: boolean | undefined
  /**
   * True when the payment nonce is unused, so that the order may use another
   * account nonce.
   */
  isFree?: boolean | undefined
}

/** Milliseconds by which receipts can lag behind the account's count. */
const receiptLag = 2000

/** A check that needs several requests runs only at every eighth poll. */
const looksApart = 8

/**
 * Finds out what the chain shows about an account nonce. Needs no request if a
 * receipt proves it. Never guesses: returns `undefined` while it is unclear.
 */
export async function explainNonce(
  submitter: SubmitterState,
  view: SubmitterView,
  judged: JudgedNonce,
  stored: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  switch (judged.kind) {
    case 'pending':
      return undefined
    case 'mined':
      return explainMined(submitter, view, judged, stored)
    case 'passed':
      return explainPassed(submitter, view, judged, stored)
    case 'unknown':
      return explainUnknown(submitter, view, judged, stored)
  }
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
  if (row.kind === 'filler') {
    const reason = stored.order.reason ?? 'deadlinePassed'
    return {
      judged,
      stored,
      failure: { reason, isRevert: false },
      isOver: true,
    }
  }
  const { carried } = kindOf(submitter, stored.order)
  const isSuccess = receipt.status === 'success'
  // Without the time of its block, we cannot tell yet what the receipt proves.
  if (carried && isSuccess && time === undefined) return undefined
  // A charge can need several transactions, such as an approval first. Send the
  // next one.
  if (carried && isSuccess)
    return { judged, stored, isFree: true, isOver: true }
  const payment = paymentOf(submitter, stored.order, stored.attempt)
  const about = { nonce: judged.nonce, orderId: stored.order.id }
  const explaining = carried
    ? carried.explain(submitter.reader, payment, receipt)
    : explainRevert(submitter.reader, receipt, payment).then(
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
 * Milliseconds. Once the pause between tries is longer, we stop asking for the
 * reason of a failure.
 */
const longestWait = 3000

/**
 * Makes a nonce wait because the node did not give the reason of a failure.
 * Returns `undefined` to try again later, and `simulationFailed` once that took
 * too long.
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
 * Explains a nonce below the account's count without a receipt of ours. Either
 * someone else used the nonce, or one node lags behind another.
 */
async function explainPassed(
  submitter: SubmitterState,
  view: Pick<SubmitterView, 'head' | 'safe'>,
  judged: Judged<'passed'>,
  stored: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  const { nonce } = judged
  const { nonces, reader } = submitter
  const lost = nonces.noticeLost(nonce)
  // Receipts can appear later than the account's count, and nodes behind one
  // URL can differ by a block.
  if (lost.looks < 2 || performance.now() - lost.since < receiptLag)
    return undefined
  await checkChain(reader, submitter.wallet.submitter.chainId)
  const { safe, safeCount = 0 } = await view.safe()
  const isSafe = safe !== undefined && safeCount > nonce
  const unsure = judged.rows.filter(({ hash }) => hash === undefined)
  // A transaction that only fills the nonce, and whose hash only the wallet
  // knows, may have used it.
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
    // The wallet sent these, so we hold no bytes to send again. If our account
    // sent the transaction that decided the order, the nonce is done.
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
  // Without its hash, we do not know that a transaction has this nonce.
  const isKnown = unsure.every(({ kind }) => kind === 'filler')
  const isDead = isKnown || view.head.timestamp >= endOf(judged, stored)
  const isFree = isSafe && isDead && (await isUnused(submitter, stored, safe))
  return { judged, stored, isForeign, isFree, isOver: isFree }
}

/** True while the order is in flight and this attempt is its newest. */
function isUndecided({ order, attempt }: StoredOrder): boolean {
  return order.attempt === attempt.number && isInFlight(order)
}

/** True when this account submitted the capture or cancellation. */
export function isSentBy(evidence: Evidence, account: Address): boolean {
  const isProof = evidence.kind === 'capture' || evidence.kind === 'cancel'
  return isProof && evidence.proof.submitter === account
}

/**
 * The wallet may have sent the transaction, so an undecided order does not fail
 * before its window ends.
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
  // If the wallet chooses its own nonces, nothing waits for a transaction that
  // only fills a nonce.
  if (!stored) return keepsNonce ? undefined : { judged, stored, isOver: true }
  const evidence = isUndecided(stored)
    ? await findEvidence(submitter.reader, {
        ...stored,
        kinds: submitter.kinds,
      })
    : undefined
  // The wallet uses the nonces we choose, so this one stays ours: if nothing
  // uses it, `fillGaps` sends an empty transaction later.
  if (keepsNonce) return evidence && { judged, stored, evidence, isOver: false }
  if (evidence || !isUndecided(stored))
    return { judged, stored, evidence, isOver: true }
  // The window is over at `head`, and `isUnused` reads this block or a later
  // one, so the payment cannot be captured any more.
  if (head.timestamp < endOf(judged, stored)) return undefined
  if (!(await isUnused(submitter, stored, head))) return undefined
  const failure = { reason: 'expired', isRevert: false } as const
  return { judged, stored, failure, isOver: true }
}

/** Unix seconds from which the transaction at a nonce is too late. */
function endOf({ rows }: JudgedNonce, { attempt }: StoredOrder): bigint {
  return endsOf(attempt)[rows[0].kind === 'cancel' ? 'cancel' : 'capture']
}

/**
 * True soon after the account's count has passed a nonce, and at every eighth
 * poll.
 */
function isTimeToLook(
  { nonces, pace }: Pick<SubmitterState, 'nonces' | 'pace'>,
  nonce: number,
  count: number,
): boolean {
  const isTurn = pace.looks % looksApart === 1
  if (nonce >= count) return isTurn
  return nonces.noticeLost(nonce).looks === 2 || isTurn
}

/**
 * True when the payment nonce is unused at the newest block, and so at `below`
 * too. The node may no longer have the state of `below`.
 */
async function isUnused(
  submitter: SubmitterState,
  { order, attempt }: StoredOrder,
  below: BlockHead,
): Promise<boolean> {
  const payment = paymentOf(submitter, order, attempt)
  const kind = kindOf(submitter, order)
  // A charge has no payment nonce on chain. `findEvidence` has just searched
  // for the charge, up to the newest block.
  if (kind.carried) return true
  const spentCall = kind.spentCall(payment)
  const { consumed, head } = await readSpent(
    submitter.reader,
    spentCall,
    'latest',
  )
  return !consumed && head.timestamp >= below.timestamp
}

/**
 * Failures with these reasons do not count against the payer's other orders. A
 * payer who signs late can cause those about time. All other reasons count,
 * even `simulationFailed`: a payer's contract wallet can revert without a
 * reason.
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
 * True when a capture failed on chain after its rehearsal passed, and the payer
 * caused it.
 */
export async function blamesPayer(
  submitter: SubmitterState,
  { judged, stored, failure, evidence }: NonceFate,
): Promise<boolean> {
  // The payer of a refund is the merchant.
  if (stored?.order.refundOf !== undefined) return false
  // The schedule of a subscription counts its failures itself.
  if (stored && isScheduled(stored.order)) return false
  if (!failure) {
    const isReverted =
      judged.kind === 'mined' && judged.receipt.status === 'reverted'
    return isReverted && ['cancel', 'consumed'].includes(evidence?.kind ?? '')
  }
  const { reason, isRevert } = failure
  if (!isRevert || othersReasons.includes(reason)) return false
  if (reason !== 'gasTooHigh' || !stored) return true
  // Only the payer's own code can use more gas than the rehearsal showed.
  const { from } = paymentOf(submitter, stored.order, stored.attempt).message
  const found = await hasCode(submitter.reader, from).catch(() => undefined)
  return found ?? true
}
