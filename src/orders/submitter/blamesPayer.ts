import { hasCode } from '../../chain/state/hasCode.js'
import { paymentOf } from '../model/paymentOf.js'
import type { NonceFate } from './explainNonce.js'
import type { SubmitterState } from './submitterState.js'

/**
 * Reasons that a payer cannot cause, except by being slow: they lie with the
 * issuer, the recipient, the token or us. All other reasons are the payer's. So
 * is `simulationFailed`, because a contract wallet can revert without a reason.
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
 * True when a capture failed on chain after its rehearsal passed, and the
 * reason lies with the payer.
 */
export async function blamesPayer(
  { reader }: SubmitterState,
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
  // Only the payer's own code can use more gas than the rehearsal showed.
  const { from } = paymentOf(file.order, file.attempt).message
  const found = await hasCode(reader, from).catch(() => undefined)
  return found ?? true
}
