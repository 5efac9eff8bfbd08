import { sendRawBatch } from '../../payments/capture/sendRawBatch.js'
import type { OrdersContext } from '../model/types.js'
import type { LaneState } from './laneState.js'
import type { LaneView } from './readLane.js'
import type { RecordedBytes } from './recordTransactions.js'

/**
 * Sends bytes that are on record, once, and remembers what the node said of
 * them. What it does not take stays open and is sent again.
 */
export async function sendRecorded(
  context: Pick<OrdersContext, 'observe'>,
  lane: LaneState,
  { count }: Pick<LaneView, 'count'>,
  recorded: readonly RecordedBytes[],
): Promise<void> {
  if (recorded.length === 0) return
  for (const { nonce } of recorded) lane.sentAt.set(nonce, lane.tick)
  const started = Date.now()
  const outcomes = await sendRawBatch(lane.wallet.client, recorded)
  const tally: Record<string, number> = {}
  for (const [at, { status }] of outcomes.entries()) {
    const nonce = recorded[at]?.nonce ?? 0
    tally[status] = (tally[status] ?? 0) + 1
    if (status === 'underpriced' || status === 'replacementUnderpriced')
      lane.underpriced.add(nonce)
    // The node's limit: no more than it takes until it has taken these.
    if (status !== 'poolFull') continue
    lane.window = Math.max(1, Math.min(lane.window, nonce - count))
    lane.sentAt.set(nonce, Number.NEGATIVE_INFINITY)
  }
  context.observe({
    name: 'lane.sent',
    duration: Date.now() - started,
    attributes: { ...lane.wallet.lane, ...tally },
  })
}
