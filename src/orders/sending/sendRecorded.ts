import { endingClient } from '../../chain/rpc/endingClient.js'
import {
  type SendOutcome,
  sendRawBatch,
} from '../../payments/capture/sendRawBatch.js'
import type { SubmitterView } from '../account/getSubmitterView.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import type { SignedBytes } from './signDrafts.js'

/**
 * Most milliseconds of one send. No poll waits for so long (`answered`), and
 * the bytes are sent again meanwhile: this frees the connection.
 */
const longestSend = 10_000

/**
 * Sends the bytes of stored transactions, and keeps the node's answers as they
 * come; `broadcasts.answered` waits for them. Bytes that the node does not
 * accept, or does not answer about, stay in flight and are sent again later.
 */
export function sendRecorded(
  context: Pick<OrdersContext, 'observe'>,
  submitter: SubmitterState,
  view: Pick<SubmitterView, 'count'>,
  recorded: readonly SignedBytes[],
): void {
  if (recorded.length === 0) return
  const { broadcasts, pace } = submitter
  const nonces = recorded.map(({ nonce }) => nonce)
  const isFirst = nonces.some((one) => broadcasts.sentAt(one) === undefined)
  broadcasts.noteSent(nonces, pace.looks)
  broadcasts.watch(sendAll(context, submitter, view, recorded), isFirst)
}

async function sendAll(
  { observe }: Pick<OrdersContext, 'observe'>,
  submitter: SubmitterState,
  { count }: Pick<SubmitterView, 'count'>,
  recorded: readonly SignedBytes[],
): Promise<void> {
  const { wallet } = submitter
  const client = endingClient(wallet.client, AbortSignal.timeout(longestSend))
  const tally: Record<string, number> = {}
  const started = performance.now()
  const sends = recorded.map(async (one) => {
    const [outcome] = await sendRawBatch(client, [one])
    if (!outcome) return
    tally[outcome.status] = (tally[outcome.status] ?? 0) + 1
    keepAnswer(submitter, one, { count, outcome })
  })
  await Promise.all(sends)
  observe({
    name: 'submitter.sent',
    duration: performance.now() - started,
    attributes: { ...wallet.submitter, ...tally },
  })
}

/**
 * Keeps what the node said, unless other bytes are in flight at this account
 * nonce by now: an answer may come late.
 */
function keepAnswer(
  { broadcasts, inFlight }: SubmitterState,
  { nonce, hash }: SignedBytes,
  { count, outcome }: { count: number; outcome: SendOutcome },
): void {
  const rows = inFlight.rows.filter((row) => row.nonce === nonce)
  if (rows.at(-1)?.hash !== hash) return
  const { status } = outcome
  if (status === 'underpriced' || status === 'replacementUnderpriced')
    broadcasts.refuse(nonce)
  // The node's pool is full, so it would refuse later nonces too.
  if (status === 'poolFull') broadcasts.admitBelow(nonce, count)
}
