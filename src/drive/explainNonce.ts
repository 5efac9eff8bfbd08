import type { Address, Client } from 'viem'
import { CountersignError } from '../base/CountersignError.js'
import { explainRevert } from '../capture/explainRevert.js'
import type { JudgedNonce } from '../lanes/judgeNonces.js'
import type { LaneState } from '../lanes/laneState.js'
import type { LaneView } from '../lanes/readLane.js'
import { isInFlight } from '../lanes/rejectOrder.js'
import { endsOf } from '../ledger/endsOf.js'
import { findEvidence } from '../ledger/findEvidence.js'
import type { Evidence, OrderFile } from '../ledger/settleOrder.js'
import { getConsumption } from '../reads/getAuthorizationState.js'
import { paymentOf } from '../records/paymentOf.js'
import { proofRecordOf } from '../records/proofRecordOf.js'

/** What became of what was sent under a nonce. */
export type NonceFate = {
  judged: JudgedNonce
  file: OrderFile | undefined
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

/** Ticks between two looks at what a single request cannot decide. */
const lookEvery = 8

/**
 * Finds out what the chain says of a nonce. Without a request where a receipt
 * proves it; never a guess: `undefined` where it cannot be told now.
 */
export async function explainNonce(
  lane: LaneState,
  view: LaneView,
  judged: JudgedNonce,
  file: OrderFile | undefined,
): Promise<NonceFate | undefined> {
  switch (judged.kind) {
    case 'pending':
      return undefined
    case 'mined':
      return explainMined(lane.reader, view, judged, file)
    case 'passed':
      return explainPassed(lane, view, judged, file)
    case 'unknown':
      return explainUnknown(lane, view, judged, file)
  }
}

type Judged<kind extends JudgedNonce['kind']> = Extract<
  JudgedNonce,
  { kind: kind }
>

async function explainMined(
  client: Client,
  { blockTimes }: LaneView,
  judged: Judged<'mined'>,
  file: OrderFile | undefined,
): Promise<NonceFate | undefined> {
  const { row, receipt } = judged
  const time = blockTimes.get(receipt.blockNumber)
  const proof =
    file && time !== undefined && row.kind !== 'release'
      ? proofRecordOf(receipt, file, time)
      : undefined
  if (proof) {
    const kind = proof.kind === 'cancel' ? 'cancel' : 'capture'
    return { judged, file, evidence: { kind, proof }, isOver: true }
  }
  if (!file || !isUndecided(file)) return { judged, file, isOver: true }
  const evidence = await findEvidence(client, file)
  if (evidence) return { judged, file, evidence, isOver: true }
  if (row.kind === 'release') {
    const reason = file.order.reason ?? 'deadlinePassed'
    return { judged, file, failure: { reason, isRevert: false }, isOver: true }
  }
  const { reason } = await explainRevert(
    client,
    receipt,
    paymentOf(file.order, file.attempt),
  )
  return { judged, file, failure: { reason, isRevert: true }, isOver: true }
}

/** Someone else's transaction has the nonce, or a node is behind another. */
async function explainPassed(
  lane: LaneState,
  { safe, safeCount = 0 }: LaneView,
  judged: Judged<'passed'>,
  file: OrderFile | undefined,
): Promise<NonceFate | undefined> {
  const { nonce } = judged
  const ticks = (lane.lost.get(nonce) ?? 0) + 1
  lane.lost.set(nonce, ticks)
  // One node's answer can be older than another's.
  if (ticks < 2) return undefined
  const isSafe = safe !== undefined && safeCount > nonce
  const isForeign = nonce > (lane.value.sharedNonce ?? -1)
  if (!isSafe && !isForeign && ticks % lookEvery !== 0) return undefined
  if (!file || !isUndecided(file))
    return { judged, file, isForeign, isOver: isSafe }
  const evidence = await findEvidence(lane.reader, file)
  if (evidence) {
    // Without bytes of ours there is nothing that could be sent again.
    const isHashless = judged.rows.every(({ hash }) => hash === undefined)
    const isOurs = isHashless && isSentBy(evidence, judged.rows[0].account)
    const told = isForeign && !isOurs
    return { judged, file, evidence, isForeign: told, isOver: isSafe || isOurs }
  }
  const isFree = isSafe && !(await isConsumed(lane.reader, file, safe.number))
  return { judged, file, isForeign, isFree, isOver: isFree }
}

/** What became of an older attempt says nothing about the one under way. */
function isUndecided({ order, attempt }: OrderFile): boolean {
  return order.attempt === attempt.number && isInFlight(order)
}

/** Whether what settled an order came from this account. */
export function isSentBy(evidence: Evidence, account: Address): boolean {
  const isProof = evidence.kind === 'capture' || evidence.kind === 'cancel'
  return isProof && evidence.proof.submitter === account
}

/** Never sent again while the authorization is unused and its window open. */
async function explainUnknown(
  lane: LaneState,
  { head }: LaneView,
  judged: Judged<'unknown'>,
  file: OrderFile | undefined,
): Promise<NonceFate | undefined> {
  const isOld = judged.rows.every(
    ({ nonce }) => lane.sentAt.get(nonce) !== lane.tick,
  )
  if (!isOld || lane.tick % lookEvery !== 1) return undefined
  const keepsNonce = lane.value.ignoresNonce === false
  if (!file) return undefined
  const [{ kind }] = judged.rows
  const ends = endsOf(file.attempt)
  const isLate = head.timestamp >= ends[kind === 'cancel' ? kind : 'capture']
  const evidence = isUndecided(file)
    ? await findEvidence(lane.reader, file)
    : undefined
  const isSettled = evidence !== undefined || !isUndecided(file)
  // What keeps its nonce is released there; what does not holds none.
  if (!isSettled && !isLate) return undefined
  return { judged, file, evidence, isOver: isSettled && !keepsNonce }
}

async function isConsumed(
  client: Client,
  { order, attempt }: OrderFile,
  block: bigint,
): Promise<boolean> {
  const { from: payer, nonce } = paymentOf(order, attempt).message
  const { token } = order
  const { consumed } = await getConsumption(client, {
    token,
    payer,
    nonce,
    block,
  })
  return consumed
}

/** A node that stumbles is asked again at the next look. */
export function ignorePassing(error: unknown): undefined {
  if (!(error instanceof CountersignError) || !error.retryable) throw error
}
