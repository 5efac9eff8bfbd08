import type { Address, Client } from 'viem'
import type { BlockHead } from '../../chain/rpc/requestNode.js'
import { getConsumption } from '../../chain/state/getAuthorizationState.js'
import { explainRevert } from '../../payments/capture/explainRevert.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { endsOf } from '../model/endsOf.js'
import { paymentOf } from '../model/paymentOf.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import type { Evidence } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { JudgedNonce } from './judgeNonces.js'
import type { SubmitterView } from './readSubmitter.js'
import { isInFlight } from './rejectOrder.js'
import {
  choosesNonce,
  nonceName,
  noticeAgain,
  type SubmitterState,
} from './submitterState.js'

/** What became of what was sent under a nonce. */
export type NonceFate = {
  judged: JudgedNonce
  file: StoredOrder | undefined
  evidence?: Evidence | undefined
  /** It was mined, and did nothing. */
  failure?: { reason: string; isRevert: boolean } | undefined
  /** Nothing at this nonce can happen any more. */
  isOver: boolean
  /** Someone else's took the nonce. */
  isForeign?: boolean | undefined
  /** The authorization is unused, and may go under another nonce. */
  isFree?: boolean | undefined
}

/** Milliseconds by which receipts can be behind the account's count. */
const receiptLag = 2000

/** Ticks between two looks at what a single request cannot decide. */
const lookEvery = 8

/**
 * Finds out what the chain says of a nonce. Without a request where a receipt
 * proves it; never a guess: `undefined` where it cannot be told now.
 */
export async function explainNonce(
  submitter: SubmitterState,
  view: SubmitterView,
  judged: JudgedNonce,
  file: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  switch (judged.kind) {
    case 'pending':
      return undefined
    case 'mined':
      return explainMined(submitter, view, judged, file)
    case 'passed':
      return explainPassed(submitter, view, judged, file)
    case 'unknown':
      return explainUnknown(submitter, view, judged, file)
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
  file: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  const { row, receipt } = judged
  const time = blockTimes.get(receipt.blockNumber)
  const proof =
    file && time !== undefined && row.kind !== 'filler'
      ? proofRecordOf(receipt, file, time)
      : undefined
  if (proof) {
    const kind = proof.kind === 'cancel' ? 'cancel' : 'capture'
    return { judged, file, evidence: { kind, proof }, isOver: true }
  }
  if (!file || !isUndecided(file)) return { judged, file, isOver: true }
  const evidence = await findEvidence(submitter.reader, file)
  if (evidence) return { judged, file, evidence, isOver: true }
  if (row.kind === 'filler') {
    const reason = file.order.reason ?? 'deadlinePassed'
    return { judged, file, failure: { reason, isRevert: false }, isOver: true }
  }
  const payment = paymentOf(file.order, file.attempt)
  const about = { nonce: judged.nonce, orderId: file.order.id }
  const reason = await explainRevert(submitter.reader, receipt, payment).then(
    (error) => error.reason,
    (error: unknown) => postponeReason(submitter, about, error),
  )
  return reason === undefined
    ? undefined
    : { judged, file, failure: { reason, isRevert: true }, isOver: true }
}

/**
 * Gives up waiting for a reason once the pause between tries is longer, in
 * milliseconds.
 */
const longestWait = 3000

/**
 * Puts the nonce aside: `undefined` while the node may still give the reason,
 * then `simulationFailed`.
 */
function postponeReason(
  submitter: SubmitterState,
  { nonce, orderId }: { nonce: number; orderId: string },
  error: unknown,
): 'simulationFailed' | undefined {
  const pause = submitter.aside.put(nonceName('settle', nonce), error, orderId)
  return pause > longestWait ? 'simulationFailed' : undefined
}

/** Someone else's transaction has the nonce, or a node is behind another. */
async function explainPassed(
  submitter: SubmitterState,
  { head, safe, safeCount = 0 }: SubmitterView,
  judged: Judged<'passed'>,
  file: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  const { nonce } = judged
  const now = performance.now()
  const lost = noticeAgain(submitter.lost.get(nonce), now)
  submitter.lost.set(nonce, lost)
  // Receipts can lag behind the count, and one node behind another.
  if (lost.looks < 2 || now - lost.since < receiptLag) return undefined
  const isSafe = safe !== undefined && safeCount > nonce
  const unsure = judged.rows.filter(({ hash }) => hash === undefined)
  // A filler whose hash only the wallet knows may have used the nonce.
  const isFiller = unsure.some(({ kind }) => kind === 'filler')
  const isForeign = !isFiller && nonce > (submitter.value.sharedNonce ?? -1)
  if (!isSafe && !isForeign && lost.looks % lookEvery !== 0) return undefined
  if (!file || !isUndecided(file))
    return { judged, file, isForeign, isOver: isSafe }
  const evidence = await findEvidence(submitter.reader, file)
  if (evidence) {
    // Without bytes of ours there is nothing that could be sent again.
    const isHashless = judged.rows.every(({ hash }) => hash === undefined)
    const isOurs = isHashless && isSentBy(evidence, judged.rows[0].account)
    const told = isForeign && !isOurs
    return { judged, file, evidence, isForeign: told, isOver: isSafe || isOurs }
  }
  // Without a hash we only assume that the wallet kept the nonce.
  const isKnown = unsure.every(({ kind }) => kind === 'filler')
  const isDead = isKnown || head.timestamp >= endOf(judged, file)
  const isFree =
    isSafe && isDead && (await isUnused(submitter.reader, file, safe))
  return { judged, file, isForeign, isFree, isOver: isFree }
}

/** What became of an older attempt says nothing about the one under way. */
function isUndecided({ order, attempt }: StoredOrder): boolean {
  return order.attempt === attempt.number && isInFlight(order)
}

/** Whether what settled an order came from this account. */
export function isSentBy(evidence: Evidence, account: Address): boolean {
  const isProof = evidence.kind === 'capture' || evidence.kind === 'cancel'
  return isProof && evidence.proof.submitter === account
}

/** Never sent again while the authorization is unused and its window open. */
async function explainUnknown(
  submitter: SubmitterState,
  { head, count }: SubmitterView,
  judged: Judged<'unknown'>,
  file: StoredOrder | undefined,
): Promise<NonceFate | undefined> {
  const { nonce } = judged
  if (submitter.sentAt.get(nonce) === submitter.tick) return undefined
  if (!isTimeToLook(submitter, nonce, count)) return undefined
  const keepsNonce = choosesNonce(submitter)
  // If the wallet chooses its own nonces, an open filler blocks nothing.
  if (!file) return keepsNonce ? undefined : { judged, file, isOver: true }
  const evidence = isUndecided(file)
    ? await findEvidence(submitter.reader, file)
    : undefined
  // If the wallet keeps the nonce, the submitter fills it later.
  if (keepsNonce) return evidence && { judged, file, evidence, isOver: false }
  if (evidence || !isUndecided(file))
    return { judged, file, evidence, isOver: true }
  // Compares time and state at the same block or a later one.
  if (head.timestamp < endOf(judged, file)) return undefined
  if (!(await isUnused(submitter.reader, file, head))) return undefined
  const failure = { reason: 'expired', isRevert: false }
  return { judged, file, failure, isOver: true }
}

/** The time from which the transaction at a nonce comes too late. */
function endOf({ rows }: JudgedNonce, { attempt }: StoredOrder): bigint {
  return endsOf(attempt)[rows[0].kind === 'cancel' ? 'cancel' : 'capture']
}

/**
 * True soon after the account's count has passed a nonce, and at every eighth
 * tick.
 */
function isTimeToLook(
  submitter: Pick<SubmitterState, 'lost' | 'tick'>,
  nonce: number,
  count: number,
): boolean {
  if (nonce >= count) return submitter.tick % lookEvery === 1
  const lost = noticeAgain(submitter.lost.get(nonce), performance.now())
  submitter.lost.set(nonce, lost)
  return submitter.tick % lookEvery === 1 || lost.looks === 2
}

/**
 * True when the authorization is unused at the newest block. Then it was unused
 * at `below` too, whose state the node may no longer have.
 */
async function isUnused(
  client: Client,
  { order, attempt }: StoredOrder,
  below: BlockHead,
): Promise<boolean> {
  const { from: payer, nonce } = paymentOf(order, attempt).message
  const { token } = order
  const { consumed, head } = await getConsumption(client, {
    token,
    payer,
    nonce,
    block: 'latest',
  })
  return !consumed && head.timestamp >= below.timestamp
}
