import type { Client } from 'viem'
import { readFrom } from '../rpc/endpointHost.js'
import { NodeAnswerError } from '../rpc/errors.js'
import { readList, requestNode } from '../rpc/requestNode.js'
import type { WireFilter } from './encodeLogFilter.js'
import { logMatcher } from './logMatcher.js'
import type { ReadLog } from './logTypes.js'
import { readRpcLog } from './readRpcLog.js'

/** Where in the chain to look: a sealed range, one block, or pre-confirmed. */
export type LogPlace =
  | { blockHash: string }
  | { fromBlock: string; toBlock: string }

const method = 'eth_getLogs'

/** The logs of one place that is not split. */
export async function readLogPlace(
  client: Client,
  wire: WireFilter,
  place: LogPlace,
  signal: AbortSignal | undefined,
): Promise<readonly ReadLog[]> {
  const filter = { ...wire, ...place }
  const result = await requestNode(client, method, [filter], { signal })
  return readFrom(client, () => {
    const logs = readLogs(wire, result)
    if ('blockHash' in place)
      for (const { blockHash } of logs)
        if (blockHash?.toLowerCase() !== place.blockHash)
          throw refuse('holds a log of another block')
    return logs
  })
}

/** The logs of an answer, all of which the filter must have asked for. */
export function readLogs(
  wire: WireFilter,
  result: unknown,
): readonly ReadLog[] {
  const logs = readList(result, method).map((log) => readRpcLog(log, method))
  if (!logs.every(logMatcher(wire)))
    throw refuse('holds a log nobody asked for')
  return logs
}

function refuse(problem: string): NodeAnswerError {
  return new NodeAnswerError({ method, problem })
}
