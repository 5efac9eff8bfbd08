import type { TransactionRecord } from '../store/types.js'

/**
 * Opens transactions of one kind again, to be sent as they are: those at the
 * nonce used last, since the ones before were over when it was used. Pure.
 *
 * Leaves out rows whose bytes were erased with the secret of their attempt:
 * nothing could be sent for them, and their nonce would never be used.
 *
 * @param secret what the transactions carry; `undefined` once it is erased.
 */
export function reopenLast(
  sent: readonly TransactionRecord[],
  secret: string | undefined,
): TransactionRecord[] {
  const last = Math.max(...sent.map(({ nonce }) => nonce))
  return (
    sent
      // A wallet that signs and sends at once has bytes that we never see.
      .filter(
        ({ nonce, raw }) =>
          nonce === last && (raw !== undefined || secret !== undefined),
      )
      .map((row) => ({ ...row, open: true }))
  )
}
