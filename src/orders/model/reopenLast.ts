import type { TransactionRecord } from '../../store/types.js'

/**
 * Opens transactions of one kind again, to be sent as they are: those at the
 * nonce used last, since the ones before were over when it was used. Pure.
 *
 * Leaves out rows whose bytes were erased with the secret of their attempt: we
 * could send nothing for them, and their nonce would stay unused.
 *
 * @param secret the signature that the transactions carry; `undefined` if
 * erased.
 */
export function reopenLast(
  sent: readonly TransactionRecord[],
  secret: string | undefined,
): TransactionRecord[] {
  const last = Math.max(...sent.map(({ nonce }) => nonce))
  return (
    sent
      // Without bytes, it was sent by a wallet that signs and sends itself.
      .filter(
        ({ nonce, raw }) =>
          nonce === last && (raw !== undefined || secret !== undefined),
      )
      .map((row) => ({ ...row, inFlight: true }))
  )
}
