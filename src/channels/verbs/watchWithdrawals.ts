import type { Client, Hex } from 'viem'
import { getLogs } from '../../chain/logs/getLogs.js'
import { channelContract } from '../contract/channelDomain.js'
import {
  channelTopics,
  decodeChannelLog,
} from '../contract/decodeChannelLog.js'

/** A withdrawal that a payer announced, as its log says. */
export type SeenWithdrawal = {
  id: Hex
  /** Base units of the token. */
  value: bigint
  /** Unix seconds from which the payer can finalize it. */
  withdrawableAt: bigint
}

/** A channel with a log, and the number of the log's block. */
type SeenPlace = { id: Hex; blockNumber: bigint }

/** What the logs of the channel contract tell about known channels. */
export type SeenLogs = {
  /** Withdrawals that were announced, perhaps only pre-confirmed. */
  withdrawals: SeenWithdrawal[]
  /** All logs, by the block and transaction where they are. */
  places: Map<string, SeenPlace>
  /** Channels whose withdrawal is only pre-confirmed. */
  preconfirmed: Set<Hex>
}

/**
 * Most channels that a filter names. With more, it asks for the withdrawals of
 * all channels of the contract, which are few.
 */
const mostNamed = 500

/**
 * Reads what happened to channels since a block, pre-confirmed transactions
 * included.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} {@link LogRangeError} when
 * the node does not answer, or its answer is malformed.
 */
export async function findSeenLogs(
  client: Client,
  ids: ReadonlySet<Hex>,
  fromBlock: bigint,
): Promise<SeenLogs> {
  const seen: SeenLogs = {
    withdrawals: [],
    places: new Map(),
    preconfirmed: new Set(),
  }
  if (ids.size === 0) return seen
  const isNamed = ids.size <= mostNamed
  const { withdrawInitiated, withdrawFinalized } = channelTopics
  const { deposited, claimed, refunded } = channelTopics
  const ending = [withdrawInitiated, withdrawFinalized]
  const logs = await getLogs(client, {
    address: channelContract,
    topics: isNamed
      ? [[...ending, deposited, claimed, refunded], [...ids]]
      : [ending],
    fromBlock,
    toBlock: 'pending',
  })
  for (const log of logs) {
    const found = decodeChannelLog(log)
    if (!found || !('channelId' in found) || !ids.has(found.channelId)) continue
    const { channelId: id } = found
    if (found.name === 'withdrawInitiated') {
      if (log.preconfirmed) seen.preconfirmed.add(id)
      seen.withdrawals.push({
        id,
        value: found.value,
        withdrawableAt: found.withdrawableAt,
      })
    }
    // Blocks are read more than once, so it may have ended since.
    if (found.name === 'withdrawFinalized')
      seen.withdrawals = seen.withdrawals.filter((one) => one.id !== id)
    const { blockHash, blockNumber, transactionHash } = log
    const place = `${id} ${blockHash} ${transactionHash}`
    seen.places.set(place, { id, blockNumber })
  }
  return seen
}
