import type { AttemptRecord, StoreWriter } from '../../store/types.js'
import { unsetNonce } from '../model/refundRow.js'

/**
 * Removes the nonce from an attempt that can no longer be paid. Returns `false`
 * while a transaction of the order is in flight, because it may still be mined,
 * and when the nonce was changed meanwhile.
 */
export async function releaseNonce(
  tables: StoreWriter,
  holder: AttemptRecord,
): Promise<boolean> {
  const { orderId, number } = holder
  const sent = await tables.transactions.find({ orderIds: [orderId] })
  if (sent.some(({ inFlight }) => inFlight)) return false
  const [current] = (
    await tables.attempts.find({ orderIds: [orderId] })
  ).filter((one) => one.number === number)
  if (current?.nonce !== holder.nonce) return false
  await tables.attempts.update([
    {
      ...current,
      nonce: unsetNonce(orderId, number),
      spendable: false,
      signature: undefined,
    },
  ])
  return true
}
