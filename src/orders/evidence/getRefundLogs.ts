import type { Address, Client, Hash, Hex } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import { getLogs } from '../../chain/logs/getLogs.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { topics } from '../../core/tokenAbi.js'
import { word } from '../../core/words.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../model/types.js'

/** Tokens that a payment nonce of the recipient moved. */
export type SpentByRecipient = {
  nonce: Hex
  /** The `Transfer`. */
  log: ReadLog
  to: Address
  value: bigint
}

/**
 * Reads what the recipient of a destination paid with signed payments, refunds
 * among them. Leaves out all its other transfers.
 */
export async function getRefundLogs(
  { signal }: Pick<OrdersContext, 'signal'>,
  client: Client,
  { token, recipient }: Pick<Destination, 'token' | 'recipient'>,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<SpentByRecipient[]> {
  const payer: Hash = `0x${word(recipient)}`
  const logs = await getLogs(client, {
    address: token,
    topics: [[topics.used, topics.transfer], payer],
    ...range,
    signal,
  })
  return logs.flatMap((used, at) => {
    const event = decodeTokenLog(used)
    if (event?.name !== 'AuthorizationUsed') return []
    const log = logs[at + 1]
    const moved = log && decodeTokenLog(log)
    const isOne =
      log?.transactionHash === used.transactionHash &&
      moved?.name === 'Transfer' &&
      moved.value > 0n
    if (!isOne) return []
    const nonce = event.nonce.toLowerCase() as Hex
    return [{ nonce, log, to: moved.to, value: moved.value }]
  })
}
