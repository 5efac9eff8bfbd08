import type { Hex } from 'viem'
import { clientOf } from '../../orders/engine.js'
import type {
  ChannelRecord,
  Destination,
  OrderQuery,
  OrderRecord,
  Reader,
} from '../../store/types.js'
import { getChannels } from '../contract/getChannel.js'
import { aheadReason } from '../record/aheadOfChain.js'
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
    const { rows, early } = await context.store.read(async (tables) => {
      const rows = await tables.channels.find({ ids: channelIds })
      return { rows, early: await loadEarly(tables, rows) }
    })
    const known = new Map(rows.map((row) => [row.id, row]))
    for (const [place, id] of channelIds.entries()) {
      const chain = states[place]
      const found = known.get(id)
      if (!chain || !found) continue
      if (isSame(copyChain(found, chain, early.get(id)), found)) {
        book.remember(found)
        refreshed.push(found)
        continue
      }
      const row = await book.change(id, async (channel, tables) => {
        const early = await loadEarly(tables, [channel])
        const copied = copyChain(channel, chain, early.get(id))
        return isSame(copied, channel) ? undefined : copied
      })
      if (row) refreshed.push(row)
    }
  }
  return refreshed
}

/** Loads the deposits that were credited early, by channel id. */
async function loadEarly(
  { orders }: { orders: Reader<OrderRecord, OrderQuery> },
  rows: readonly ChannelRecord[],
): Promise<ReadonlyMap<Hex, OrderRecord>> {
  const ids = rows
    .filter(({ reason }) => reason === aheadReason)
    .flatMap(({ depositId }) => depositId ?? [])
  const found = ids.length > 0 ? await orders.find({ ids }) : []
  const early = new Map<Hex, OrderRecord>()
  for (const { id, depositId } of rows) {
    const deposit = found.find((order) => order.id === depositId)
    if (deposit) early.set(id, deposit)
  }
  return early
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
