import type { Hex } from 'viem'
import { clientOf } from '../../orders/engine.js'
import type { ChannelRecord, Destination } from '../../store/types.js'
import { getChannels } from '../contract/getChannel.js'
import { copyChain } from '../record/copyChain.js'
import type { ChannelsContext } from './context.js'

/** Most channels in one request to a node. */
const mostAsked = 100

/**
 * Copies the state of channels of one chain and token from the node. Asks for
 * many in one request.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function refreshChannels(
  { context, book }: ChannelsContext,
  at: Pick<Destination, 'chainId' | 'token'>,
  ids: readonly Hex[],
): Promise<ChannelRecord[]> {
  const client = clientOf(context, at)
  const refreshed: ChannelRecord[] = []
  for (let from = 0; from < ids.length; from += mostAsked) {
    const channelIds = ids.slice(from, from + mostAsked)
    const states = await getChannels(client, { channelIds })
    // Reads them together: most have not changed, and need no transaction.
    const rows = await context.store.read((tables) =>
      tables.channels.find({ ids: channelIds }),
    )
    const known = new Map(rows.map((row) => [row.id, row]))
    for (const [place, id] of channelIds.entries()) {
      const chain = states[place]
      const found = known.get(id)
      if (!chain || !found) continue
      if (isSame(copyChain(found, chain), found)) {
        book.remember(found)
        refreshed.push(found)
        continue
      }
      const row = await book.change(id, (channel) => {
        const copied = copyChain(channel, chain)
        return isSame(copied, channel) ? undefined : copied
      })
      if (row) refreshed.push(row)
    }
  }
  return refreshed
}

/** True when only the time of the copy differs, which is not worth a write. */
function isSame(one: ChannelRecord, other: ChannelRecord): boolean {
  return (
    one.charged === other.charged &&
    one.balance === other.balance &&
    one.claimed === other.claimed &&
    one.withdrawing === other.withdrawing &&
    one.refundNonce === other.refundNonce &&
    one.state === other.state &&
    one.reason === other.reason
  )
}
