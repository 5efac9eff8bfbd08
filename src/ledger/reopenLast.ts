import type { TransactionRecord } from '../store/types.js'

/**
 * Opens transactions of one kind again, to be sent as they are: those at the
 * nonce used last, since the ones before were over when it was used. Pure.
 */
export function reopenLast(
  sent: readonly TransactionRecord[],
): TransactionRecord[] {
  const last = Math.max(...sent.map(({ nonce }) => nonce))
  return sent
    .filter(({ nonce }) => nonce === last)
    .map((row) => ({ ...row, open: true }))
}
