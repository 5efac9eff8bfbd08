import type { Address, Client, Hex } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import { getLogs } from '../../chain/logs/getLogs.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { topics } from '../../core/tokenAbi.js'
import type { OrdersContext } from '../context/types.js'
import { type TokenPart, topicsOf } from './getPaymentLogs.js'

/** A transfer that a recipient made by a signed payment, as refunds are. */
export type SpentByRecipient = {
  nonce: Hex
  /** The token's `Transfer` log. */
  log: ReadLog
  /** The recipient, which is the payer of this transfer. */
  by: Address
  to: Address
  value: bigint
}

/**
 * Reads the transfers that recipients of a token made by signed payments,
 * refunds among them. Leaves out all their other transfers.
 */
export async function getRefundLogs(
  { signal }: Pick<OrdersContext, 'signal'>,
  client: Client,
  { token, destinations }: TokenPart,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<SpentByRecipient[]> {
  const parts = await Promise.all(
    topicsOf(destinations).map((payers) =>
      getLogs(client, {
        address: token,
        topics: [[topics.used, topics.transfer], payers],
        ...range,
        signal,
      }),
    ),
  )
  return parts.flatMap(pairLogs)
}

/**
 * Finds each log that a nonce was used, followed by the log of its transfer.
 */
function pairLogs(logs: readonly ReadLog[]): SpentByRecipient[] {
  return logs.flatMap((used, at) => {
    const event = decodeTokenLog(used)
    if (event?.name !== 'AuthorizationUsed') return []
    const log = logs[at + 1]
    const moved = log && decodeTokenLog(log)
    const isOne =
      log?.transactionHash === used.transactionHash &&
      moved?.name === 'Transfer' &&
      moved.from === event.authorizer &&
      moved.value > 0n
    if (!isOne) return []
    const nonce = event.nonce.toLowerCase() as Hex
    const { from: by, to, value } = moved
    return [{ nonce, log, by, to, value }]
  })
}
