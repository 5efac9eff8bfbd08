import { sendRawBatch } from '../../payments/capture/sendRawBatch.js'
import type { OrdersContext } from '../model/types.js'
import type { SubmitterView } from './getSubmitterView.js'
import type { SignedBytes } from './signDrafts.js'
import type { SubmitterState } from './submitterState.js'

/**
 * Sends the bytes of stored transactions, and keeps the node's answers. Bytes
 * that the node does not accept stay in flight and are sent again later.
 */
export async function sendRecorded(
  context: Pick<OrdersContext, 'observe'>,
  submitter: SubmitterState,
  { count }: Pick<SubmitterView, 'count'>,
  recorded: readonly SignedBytes[],
): Promise<void> {
  if (recorded.length === 0) return
  const { broadcasts, pace, wallet } = submitter
  const nonces = recorded.map(({ nonce }) => nonce)
  broadcasts.noteSent(nonces, pace.looks)
  const started = performance.now()
  const outcomes = await sendRawBatch(wallet.client, recorded)
  const tally: Record<string, number> = {}
  for (const [at, { status }] of outcomes.entries()) {
    const nonce = recorded[at]?.nonce ?? 0
    tally[status] = (tally[status] ?? 0) + 1
    if (status === 'underpriced' || status === 'replacementUnderpriced')
      broadcasts.refuse(nonce)
    // The node's pool is full, so it would refuse later nonces too.
    if (status === 'poolFull') broadcasts.admitBelow(nonce, count)
  }
  context.observe({
    name: 'submitter.sent',
    duration: performance.now() - started,
    attributes: { ...wallet.submitter, ...tally },
  })
}
