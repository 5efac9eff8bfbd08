import type { Hex } from 'viem'
import type { ChannelRecord, OrderRecord } from '../../store/types.js'
import { channelRefundIdOf } from '../movements/planMovement.js'
import { aheadReason } from '../record/aheadOfChain.js'
import { coveredState } from '../record/copyChain.js'
import { letGoDeposit } from '../record/earlyDeposit.js'
import type { ChannelsContext } from './context.js'
import { refreshChannels } from './refreshChannels.js'

/**
 * Lets go of deposits that are final or ended unpaid, and lets channels go on
 * whose refund was not made.
 *
 * @returns the channels whose deposit or refund must be followed further.
 */
export async function followMovements(
  channels: ChannelsContext,
  rows: readonly ChannelRecord[],
): Promise<Hex[]> {
  const { context, book, instance } = channels
  const named = rows.flatMap(movementsOf)
  if (named.length === 0) return []
  const orders = await context.store.read((tables) =>
    tables.orders.find({ ids: named }),
  )
  const open = new Set(
    orders.filter((order) => !isMovementOver(order)).map(({ id }) => id),
  )
  const followed: Hex[] = []
  for (const row of rows) {
    const movements = movementsOf(row)
    if (movements.some((id) => open.has(id))) followed.push(row.id)
    for (const order of orders)
      if (movements.includes(order.id) && isRefundFree(order, row))
        await instance.drive().requestCapture(order.id)
    // A movement that came meanwhile was not looked up: it may be open.
    const over = new Set(movements.filter((id) => !open.has(id)))
    if (over.size === 0) continue
    const kept = await book.change(row.id, (channel) => letGo(channel, over))
    // What was credited too early is no longer.
    const isEarly = row.reason === aheadReason && kept?.depositId === undefined
    if (isEarly) await refreshChannels(channels, row, [row.id])
  }
  return followed
}

function movementsOf(channel: ChannelRecord): string[] {
  const { id, depositId, reason, refundNonce } = channel
  const refund = reason === 'refund' ? [channelRefundIdOf(id, refundNonce)] : []
  return [...refund, ...(depositId === undefined ? [] : [depositId])]
}

function letGo(
  channel: ChannelRecord,
  over: ReadonlySet<string>,
): ChannelRecord | undefined {
  const { id, reason, refundNonce, depositId } = channel
  const endsDeposit = depositId !== undefined && over.has(depositId)
  const endsRefund =
    reason === 'refund' && over.has(channelRefundIdOf(id, refundNonce))
  if (!endsDeposit && !endsRefund) return undefined
  const kept = endsDeposit ? letGoDeposit(channel) : channel
  return endsRefund ? (resumeAfterRefund(kept) ?? kept) : kept
}

/** Plans how a channel goes on whose refund ended, as the chain covers it. */
export function resumeAfterRefund(
  channel: ChannelRecord,
): ChannelRecord | undefined {
  if (channel.reason !== 'refund') return undefined
  const resumed = { ...channel, reason: undefined }
  return { ...resumed, ...coveredState(resumed) }
}

/** True when a movement is final, or can no longer be made. */
export function isMovementOver({
  state,
  finality,
  requested,
  reason,
}: OrderRecord): boolean {
  if (state === 'captured') return finality === 'finalized'
  // A rejected movement stays stored, and nobody asks for it any more, except
  // for a refund that waits for the claim before it.
  if (state === 'stored')
    return requested === undefined && reason !== 'unclaimedCharges'
  return state !== 'capturing'
}

/**
 * True for a refund that came before its claim, and can be tried again: the
 * chain shows the claim now.
 */
export function isRefundFree(
  { state, requested, reason }: OrderRecord,
  { charged, claimed }: ChannelRecord,
): boolean {
  const isRefused = state === 'stored' && requested === undefined
  return isRefused && reason === 'unclaimedCharges' && claimed >= charged
}
