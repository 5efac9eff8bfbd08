import { observeFailure } from '../../core/observeFailure.js'
import type { ChannelRecord } from '../../store/types.js'
import { checkAfter } from '../record/claimSoon.js'
import { postponeClaims, requestClaims } from './claimChannels.js'
import type { ChannelsContext } from './context.js'

/**
 * Claims a channel that owes as much as it may, so that its payer can go on. Does
 * nothing if a claim may be on its way. Reports failures; the worker then claims.
 */
export async function claimAtLimit(
  channels: ChannelsContext,
  channel: ChannelRecord,
): Promise<void> {
  const { context } = channels
  const { chainId, due } = channel
  if (due !== undefined && due <= context.now() / 1000n + checkAfter) return
  try {
    await requestClaims(channels, [channel])
  } catch (error) {
    const about = { chainId, channels: 1 }
    observeFailure(context, 'channels.failed', { about, error })
    // A client that asks again must not cause as many tries.
    await postponeClaims(channels, [channel]).catch(() => undefined)
  }
}
