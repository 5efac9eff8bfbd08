import type { TransactionRecord } from '../../store/types.js'

/**
 * Marks transactions of one kind as in flight again, so that the submitter
 * sends the same bytes again. Takes only those at the highest account nonce:
 * the submitter gave up the lower ones before it used that nonce.
 *
 * Leaves out rows whose bytes were erased with their attempt's secret: we could
 * not send them, and an account nonce that stays unused blocks all higher ones.
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
      // A row without bytes was sent by a wallet that signs and sends by
      // itself.
      .filter(
        ({ nonce, raw }) =>
          nonce === last && (raw !== undefined || secret !== undefined),
      )
      .map((row) => ({ ...row, inFlight: true }))
  )
}
