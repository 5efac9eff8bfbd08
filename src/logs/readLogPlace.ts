import type { Client } from 'viem'
import { readFrom } from '../rpc/endpointHost.js'
import { readList, requestNode } from '../rpc/requestNode.js'
import type { WireFilter } from './encodeLogFilter.js'
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
): Promise<readonly ReadLog[]> {
  const result = await requestNode(client, method, [{ ...wire, ...place }])
  return readFrom(client, () => readLogs(result))
}

/** The logs of an answer. */
export function readLogs(result: unknown): readonly ReadLog[] {
  return readList(result, method).map((log) => readRpcLog(log, method))
}
