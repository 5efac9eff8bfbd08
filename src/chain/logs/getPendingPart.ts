import type { Client } from 'viem'
import { NodeError } from '../rpc/errors.js'
import { parseList, requestQuantity, tryRequest } from '../rpc/requestNode.js'
import type { WireFilter } from './encodeLogFilter.js'
import type { RangeReading } from './getLogRange.js'

const method = 'eth_getLogs'

/**
 * Requests the pre-confirmed logs together with the number of the newest block.
 * By this number the caller recognizes logs of completed blocks, which some
 * nodes return instead. Returns no logs if the node does not support pending
 * logs.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getPendingPart<item>(
  client: Client,
  wire: WireFilter,
  { read, signal }: Pick<RangeReading<readonly item[]>, 'read' | 'signal'>,
): Promise<{ logs: readonly item[]; head: bigint }> {
  const filter = { ...wire, fromBlock: 'pending', toBlock: 'pending' }
  const [{ result, failure }, head] = await Promise.all([
    tryRequest(client, method, [filter], { signal }),
    requestQuantity(client, 'eth_blockNumber', [], { signal }),
  ])
  if (!failure) return { logs: read(parseList(result, method)), head }
  const error = new NodeError({ method, failure })
  // The text of Geth: "pending logs are not supported".
  if (error.retryable || !/pending/i.test(failure.words)) throw error
  return { logs: [], head }
}
