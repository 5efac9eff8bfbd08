import type { Hex } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'
import { observeFailure } from '../../core/observeFailure.js'
import type { ClientGroup } from '../../orders/engine.js'
import type { ChannelRecord } from '../../store/types.js'
import {
  channelTokenOf,
  groupIds,
  mostRows,
  postponeClaims,
  requestClaims,
} from './claimChannels.js'
import type { ChannelsContext } from './context.js'
import { isMovementOver } from './followMovements.js'

/** The last claim of a channel: its row, and the charges that it claims. */
type LastClaim = { orderId: string; charged: bigint }

/** Last claims that this process requested, by channel. */
export type LastClaims = Map<Hex, LastClaim>

/** Seconds until the next try after a failure that may pass. */
const tryAgainAfter = 10n

/**
 * Claims the channels of one client that are due. Channels whose claim cannot be
 * requested, for example because their key does not open, are tried again later
 * and do not delay others.
 */
export async function claimDue(
  channels: ChannelsContext,
  { destinations, chainId }: ClientGroup,
  { claims: last, stale }: { claims: LastClaims; stale: Set<Hex> },
): Promise<void> {
  const { context } = channels
  const until = context.now() / 1000n
  const due = await context.store.read((tables) =>
    tables.channels.find({ due: destinations(), until, limit: mostRows }),
  )
  if (due.length === 0) return
  // Another process may have begun a refund or a deposit.
  for (const { id, state, depositId } of due)
    if (state === 'stopped' || depositId !== undefined) stale.add(id)
  const rows = await leaveClaimed(channels, due, last)
  const failed = async (error: unknown, group: readonly ChannelRecord[]) => {
    if (!(error instanceof CountersignError)) throw error
    const about = { chainId, channels: group.length }
    observeFailure(context, 'channels.failed', { about, error })
    const seconds = error.retryable ? tryAgainAfter : undefined
    await postponeClaims(channels, group, seconds)
  }
  for (const group of groupIds(rows, channelTokenOf)) {
    try {
      const options = { byPolicy: true, failed }
      const claims = await requestClaims(channels, group, options)
      for (const { order, rows: claimed } of claims)
        for (const { id, charged } of claimed)
          last.set(id, { orderId: order.id, charged })
    } catch (error) {
      await failed(error, group)
    }
  }
}

/** Leaves out channels with a claim of the same charges that may be sent yet. */
async function leaveClaimed(
  channels: ChannelsContext,
  due: readonly ChannelRecord[],
  last: LastClaims,
): Promise<ChannelRecord[]> {
  const ids = new Set<string>()
  for (const { id, charged } of due) {
    const known = last.get(id)
    if (known?.charged === charged) ids.add(known.orderId)
    else last.delete(id)
  }
  if (ids.size === 0) return [...due]
  const orders = await channels.context.store.read((tables) =>
    tables.orders.find({ ids: [...ids] }),
  )
  const open = new Set(
    orders
      .filter((order) => order.state !== 'captured' && !isMovementOver(order))
      .filter(({ reason }) => reason !== 'nothingToClaim')
      .map(({ id }) => id),
  )
  const isOpen = ({ id }: ChannelRecord) =>
    open.has(last.get(id)?.orderId ?? '')
  const waiting = due.filter(isOpen)
  if (waiting.length > 0) await postponeClaims(channels, waiting)
  return due.filter((row) => !isOpen(row))
}
