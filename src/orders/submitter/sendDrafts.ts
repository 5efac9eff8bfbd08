import { nextTurn } from '../../core/wait.js'
import type { OrdersContext } from '../model/types.js'
import type { SubmitterFees } from './feesOf.js'
import { keepSubmitter } from './openSubmitter.js'
import { canPay } from './planSending.js'
import type { SubmitterView } from './readSubmitter.js'
import { recordTransactions } from './recordTransactions.js'
import type { DueDraft } from './rehearseDue.js'
import { sendByWallet } from './sendByWallet.js'
import { sendRecorded } from './sendRecorded.js'
import type { SubmitterState } from './submitterState.js'

/** Most that are signed before they are sent. */
export const chunkSize = 100

/**
 * Puts drafts on record and sends them. What the node has not answered yet is
 * left in `sends`: meanwhile the next ones can be signed.
 */
export async function sendDrafts(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
  {
    drafts,
    fees,
    sends,
  }: {
    drafts: readonly DueDraft[]
    fees: SubmitterFees
    sends: Promise<void>[]
  },
): Promise<number> {
  const paid = canPay(submitter, view, gasOf(drafts), fees)
  if (paid < drafts.length)
    context.observe({
      name: 'submitter.waits',
      attributes: {
        ...submitter.wallet.submitter,
        reason: 'insufficientFunds',
      },
    })
  const sendable = drafts.slice(0, paid)
  if (submitter.wallet.account.type !== 'local')
    return sendByWallet(context, submitter, sendable, fees)
  await keepSubmitter(context, submitter)
  const { timestamp: now } = view.head
  const recorded = await recordTransactions(
    context,
    submitter,
    sendable,
    fees,
    now,
  )
  sends.push(sendRecorded(context, submitter, view, recorded))
  // These are to leave before the next ones are signed.
  await nextTurn()
  return recorded.length
}

const gasOf = (drafts: readonly DueDraft[]) => drafts.map(({ gas }) => gas)
