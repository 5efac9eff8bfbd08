import type { Client } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import { getLogs } from '../../chain/logs/getLogs.js'
import { standsInBlock } from '../../chain/logs/standsInBlock.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'
import { topics } from '../../core/tokenAbi.js'
import { word } from '../../core/words.js'
import type { Destination } from '../../store/types.js'

/** A transfer to or from an account, and the time of its block. */
export type TransferLog = Pick<
  ReadLog,
  'transactionHash' | 'blockHash' | 'blockNumber' | 'logIndex'
> & {
  from: Destination['recipient']
  to: Destination['recipient']
  value: bigint
  /** Time of the block in Unix seconds. */
  blockTime: bigint
}

/**
 * Gets all transfers to and from a recipient in a range of blocks, in chain
 * order. Leaves out transfers of 0.
 *
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * the node refuses, does not answer, or its chain was reorganized meanwhile.
 */
export async function getMovements(
  client: Client,
  { token, recipient }: Pick<Destination, 'token' | 'recipient'>,
  range: { fromBlock: bigint; toBlock: bigint },
  signal: AbortSignal | undefined,
): Promise<TransferLog[]> {
  const account = `0x${word(recipient)}` as const
  const read = (...sides: readonly (typeof account | null)[]) =>
    getLogs(client, {
      address: token,
      topics: [topics.transfer, ...sides],
      ...range,
      signal,
    })
  const [into, out] = await Promise.all([read(null, account), read(account)])
  const placeOf = ({ blockNumber, logIndex }: ReadLog) =>
    `${blockNumber}/${logIndex}`
  // A transfer from the account to itself is in both answers, so keep only one.
  const logs = new Map([...into, ...out].map((log) => [placeOf(log), log]))
  const moves = [...logs.values()].flatMap((log) => {
    const event = decodeTokenLog(log)
    return event?.name === 'Transfer' && event.value > 0n
      ? [{ log, event }]
      : []
  })
  const times = await getBlockTimes(
    client,
    moves.map(({ log }) => log.blockNumber),
  )
  const timed = moves.map(({ log, event }): TransferLog => {
    const { transactionHash, blockHash, blockNumber, logIndex } = log
    const block = times.get(blockNumber)
    if (!block || !standsInBlock(log, block))
      throw new NodeAnswerError({
        method: 'eth_getLogs',
        problem: 'is outdated by a reorganization: read again',
      })
    const { from, to, value } = event
    const blockTime = block.timestamp
    return {
      transactionHash,
      blockHash,
      blockNumber,
      // Only logs of pending blocks lack an index, and this log is in a mined
      // block.
      logIndex: Number(logIndex),
      from,
      to,
      value,
      blockTime,
    }
  })
  return timed.sort(
    (one, other) =>
      Number(one.blockNumber - other.blockNumber) ||
      Number(one.logIndex) - Number(other.logIndex),
  )
}
