import type { Client } from 'viem'
import { NodeAnswerError, NodeError } from '../rpc/errors.js'
import type { WireFilter } from './encodeLogFilter.js'
import { readBlockLogs, requireBlockLogs } from './readBlockLogs.js'
import type { RangeAnswer, RangeReading } from './readLogRange.js'

/**
 * Reads the logs of a sealed block from its receipts after the node refused to
 * return them.
 *
 * @throws `refusal` when the node refuses the receipts too, or refuses every
 * request for logs of the block.
 */
export async function readReceiptLogs<logs>(
  client: Client,
  wire: WireFilter,
  block: bigint,
  {
    read,
    signal,
    isMany,
    refusal,
  }: Pick<RangeReading<logs>, 'read'> & {
    signal: AbortSignal | undefined
    /** True when the node said that there are too many logs. */
    isMany: boolean
    refusal: Error
  },
): Promise<RangeAnswer<logs>> {
  try {
    if (!isMany)
      await requireBlockLogs(client, wire, block, { refusal, signal })
    return { logs: read(await readBlockLogs(client, wire, block, signal)) }
  } catch (error) {
    const isNodes =
      error instanceof NodeError || error instanceof NodeAnswerError
    if (!isNodes) throw error
    if (error.retryable) return { again: error }
    throw refusal
  }
}
