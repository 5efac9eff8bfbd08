import type { SubmitterState } from '../account/submitterState.js'
import type { ChangeSet } from '../model/collectChanges.js'
import { capturesByKey } from '../model/sendersOf.js'
import { recallKeyFault } from '../sending/findKeyFault.js'
import { mostForeign } from './continueNonces.js'
import type { JudgedNonce } from './explainNonce.js'

/**
 * True while it is known that the permission of the submitter's capture key has
 * ended for good. A key that is only paused may go on, and so may its
 * transactions.
 */
export function hasKeyEnded({
  wallet: { key },
}: Pick<SubmitterState, 'wallet'>): boolean {
  const reason = key && recallKeyFault(key)?.reason
  return reason === 'revoked' || reason === 'expired'
}

/**
 * Marks the account nonces whose transactions can only revert, because they
 * capture by a permission that has ended. Their payments may be captured by
 * another account at once: if one of the transactions succeeds all the same,
 * because a reorganization undid the revocation, the payment nonce still admits
 * one capture.
 *
 * Marks no more at once than `fillGaps` can fill, if the key gets another
 * permission.
 */
export function markEnded(
  { wallet, nonces, inFlight }: SubmitterState,
  judged: readonly JudgedNonce[],
  { collected, count }: { collected: ChangeSet; count: number },
): JudgedNonce[] {
  const used = new Set(inFlight.rows.map(({ nonce }) => nonce))
  const open = Math.max(0, nonces.value.nextNonce - count)
  const gaps = open - [...used].filter((nonce) => nonce >= count).length
  let room = mostForeign - Math.max(0, gaps)
  return judged.map((one) => {
    const { kind, nonce, rows, movements } = one
    const isByKey =
      kind !== 'mined' &&
      movements.length > 0 &&
      rows.every((row) => row.kind !== 'cancel') &&
      movements.every(({ orderId, attempt }) => {
        const stored = collected.find(orderId, attempt)
        return stored !== undefined && capturesByKey(wallet, stored.order)
      })
    if (!isByKey || (nonce >= count && room-- <= 0)) return one
    return { ...one, isEnded: true }
  })
}
