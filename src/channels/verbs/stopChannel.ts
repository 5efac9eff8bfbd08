import { coveredState } from '../record/copyChain.js'
import type { ChannelsContext } from './context.js'
import { isRefundOpen } from './followMovements.js'
import {
  type ChannelParameters,
  loadChannel,
  parseChannelId,
} from './listChannels.js'
import { loadLastRefunds } from './loadLastRefunds.js'
import { type Channel, showChannel } from './showChannel.js'

/**
 * Implements `stop` of `Channels`: the channel takes no more requests, and what
 * is owed is claimed at once.
 */
export async function stopChannel(
  channels: ChannelsContext,
  parameters: ChannelParameters,
): Promise<Channel> {
  const id = parseChannelId(parameters)
  const { context, book } = channels
  const found = await loadChannel(channels, id)
  const now = context.now() / 1000n
  const stopped = await book.change(id, (channel) => ({
    ...channel,
    state: 'stopped',
    reason: 'merchant',
    due: channel.charged > channel.claimed ? now : channel.due,
  }))
  return showChannel(stopped ?? found)
}

/** Implements `resume` of `Channels`: ends what `stop` did. */
export async function resumeChannel(
  channels: ChannelsContext,
  parameters: ChannelParameters,
): Promise<Channel> {
  const id = parseChannelId(parameters)
  const found = await loadChannel(channels, id)
  const resumed = await channels.book.change(id, async (channel, tables) => {
    if (channel.reason !== 'merchant') return undefined
    const refund = (await loadLastRefunds(tables, [channel])).get(id)
    const isRefunding =
      refund !== undefined && (await isRefundOpen(tables, channel, refund))
    // It goes on after the refund.
    if (isRefunding) return { ...channel, reason: 'refund' }
    // What the chain said meanwhile may stop it all the same.
    const resumed = { ...channel, reason: undefined }
    return { ...resumed, ...coveredState(resumed) }
  })
  return showChannel(resumed ?? found)
}
