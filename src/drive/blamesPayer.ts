import type { LaneState } from '../lanes/laneState.js'
import { hasCode } from '../reads/hasCode.js'
import { paymentOf } from '../records/paymentOf.js'
import type { NonceFate } from './explainNonce.js'

/**
 * Reasons that no payer can bring about, or only by being slow: the issuer's,
 * the recipient's, the token's and our own. Every other reason is the payer's,
 * `simulationFailed` too, since code can refuse for no reason at all.
 */
const othersReasons: readonly string[] = [
  'paused',
  'recipientBlocked',
  'unsupportedToken',
  'wrongDomain',
  'wrongChain',
  'wrongSender',
  'notYetValid',
  'expired',
  'deadlinePassed',
]

/**
 * True when gas was spent on a capture whose rehearsal had passed, for a reason
 * that is the payer's.
 */
export async function blamesPayer(
  { reader }: LaneState,
  { judged, file, failure, evidence }: NonceFate,
): Promise<boolean> {
  if (!failure) {
    const isReverted =
      judged.kind === 'mined' && judged.receipt.status === 'reverted'
    return isReverted && ['cancel', 'consumed'].includes(evidence?.kind ?? '')
  }
  const { reason, isRevert } = failure
  if (!isRevert || othersReasons.includes(reason)) return false
  if (reason !== 'gasTooHigh' || !file) return true
  // Only code of the payer's can burn more than the rehearsal showed.
  const { from } = paymentOf(file.order, file.attempt).message
  const found = await hasCode(reader, from).catch(() => undefined)
  return found ?? true
}
