import { sendRawBatch } from '../../payments/capture/sendRawBatch.js'
import type { OrdersContext } from '../model/types.js'
import type { SubmitterView } from './readSubmitter.js'
import type { RecordedBytes } from './recordTransactions.js'
import type { SubmitterState } from './submitterState.js'

/**
 * Sends bytes that are on record, once, and remembers what the node said of
 * them. What it does not take stays open and is sent again.
 */
export async function sendRecorded(
  context: Pick<OrdersContext, 'observe'>,
  submitter: SubmitterState,
  { count }: Pick<SubmitterView, 'count'>,
  recorded: readonly RecordedBytes[],
): Promise<void> {
  if (recorded.length === 0) return
  for (const { nonce } of recorded) submitter.sentAt.set(nonce, submitter.tick)
  const started = Date.now()
  const outcomes = await sendRawBatch(submitter.wallet.client, recorded)
  const tally: Record<string, number> = {}
  for (const [at, { status }] of outcomes.entries()) {
    const nonce = recorded[at]?.nonce ?? 0
    tally[status] = (tally[status] ?? 0) + 1
    if (status === 'underpriced' || status === 'replacementUnderpriced')
      submitter.underpriced.add(nonce)
    // The node's limit: no more than it takes until it has taken these.
    if (status !== 'poolFull') continue
    submitter.window = Math.max(1, Math.min(submitter.window, nonce - count))
    submitter.sentAt.set(nonce, Number.NEGATIVE_INFINITY)
  }
  context.observe({
    name: 'submitter.sent',
    duration: Date.now() - started,
    attributes: { ...submitter.wallet.submitter, ...tally },
  })
}
