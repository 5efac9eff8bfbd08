import { nextTurn } from '../../chain/rpc/nextTurn.js'
import type { OrdersContext } from '../model/types.js'
import type { LaneFees } from './feesOf.js'
import type { LaneState } from './laneState.js'
import { keepLane } from './openLane.js'
import { canPay } from './planSending.js'
import type { LaneView } from './readLane.js'
import { recordTransactions } from './recordTransactions.js'
import type { DueDraft } from './rehearseDue.js'
import { sendByWallet } from './sendByWallet.js'
import { sendRecorded } from './sendRecorded.js'

/** Most that are signed before they are sent. */
export const chunkSize = 100

/**
 * Puts drafts on record and sends them. What the node has not answered yet is
 * left in `sends`: meanwhile the next ones can be signed.
 */
export async function sendDrafts(
  context: OrdersContext,
  lane: LaneState,
  view: LaneView,
  {
    drafts,
    fees,
    sends,
  }: {
    drafts: readonly DueDraft[]
    fees: LaneFees
    sends: Promise<void>[]
  },
): Promise<number> {
  const paid = canPay(lane, view, gasOf(drafts), fees)
  if (paid < drafts.length)
    context.observe({
      name: 'lane.waits',
      attributes: { ...lane.wallet.lane, reason: 'insufficientFunds' },
    })
  const sendable = drafts.slice(0, paid)
  if (lane.wallet.account.type !== 'local')
    return sendByWallet(context, lane, sendable, fees)
  await keepLane(context, lane)
  const { timestamp: now } = view.head
  const recorded = await recordTransactions(context, lane, sendable, fees, now)
  sends.push(sendRecorded(context, lane, view, recorded))
  // These are to leave before the next ones are signed.
  await nextTurn()
  return recorded.length
}

const gasOf = (drafts: readonly DueDraft[]) => drafts.map(({ gas }) => gas)
