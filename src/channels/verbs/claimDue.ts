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
  { stale }: { stale: Set<Hex> },
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
  const failed = async (error: unknown, group: readonly ChannelRecord[]) => {
    if (!(error instanceof CountersignError)) throw error
    const about = { chainId, channels: group.length }
    observeFailure(context, 'channels.failed', { about, error })
    const seconds = error.retryable ? tryAgainAfter : undefined
    await postponeClaims(channels, group, seconds)
  }
  for (const group of groupIds(due, channelTokenOf)) {
    try {
      await requestClaims(channels, group, { byPolicy: true, failed })
    } catch (error) {
      await failed(error, group)
    }
  }
}
