import type { Client, Hash } from 'viem'
import { namesBlock } from '../../chain/logs/standsInBlock.js'
import { getReceipt } from '../../chain/state/getReceipt.js'
import { placeReceipt } from '../../chain/state/placeReceipts.js'
import { CountersignError } from '../../core/CountersignError.js'
import { startWait } from '../../payments/capture/startWait.js'

/** How long to wait for a transaction. */
export type WaitOptions = {
  /** Longest wait for the transaction, in milliseconds. @default 120_000 */
  timeout?: number | undefined
  signal?: AbortSignal | undefined
}

export const defaultTimeout = 120_000

/**
 * Waits until a transaction is in a block, and reads a state of that block.
 *
 * @throws {@link OutcomeTimeoutError}
 */
export async function waitForState<state>(
  client: Client,
  transactionHash: Hash,
  {
    timeout = defaultTimeout,
    signal,
    read,
  }: WaitOptions & { read(block: bigint): Promise<state> },
): Promise<state> {
  const wait = startWait({ timeout, signal })
  const look = async (): Promise<{ state: state } | undefined> => {
    const receipt = await getReceipt(client, transactionHash)
    const placed = receipt && (await placeReceipt(client, receipt))
    if (!placed || !namesBlock(placed.blockHash)) return undefined
    return { state: await read(placed.blockNumber) }
  }
  try {
    for (;;) {
      const found = await wait.until(look().catch(ignorePassing))
      if (found) return found.state
      await wait.pause(Math.min(client.pollingInterval, 1000))
    }
  } finally {
    wait.end()
  }
}

/** Ignores a temporary failure: the next poll asks again. Throws any other. */
function ignorePassing(error: unknown): undefined {
  if (!(error instanceof CountersignError) || !error.retryable) throw error
}
