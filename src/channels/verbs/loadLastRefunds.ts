import type { Hex } from 'viem'
import type {
  ChannelRecord,
  OrderQuery,
  OrderRecord,
  Reader,
} from '../../store/types.js'
import { channelRefundIdOf } from '../movements/planMovement.js'

/** Rows of one refund nonce that are looked up together: seldom more. */
const triesAtOnce = 8

/**
 * Loads the last row for the next refund nonce of each channel, by channel id. A
 * refund that was refused or expired leaves its row, and the next one gets
 * another.
 */
export async function loadLastRefunds(
  { orders }: { orders: Reader<OrderRecord, OrderQuery> },
  channels: readonly Pick<ChannelRecord, 'id' | 'refundNonce'>[],
): Promise<ReadonlyMap<Hex, OrderRecord>> {
  const last = new Map<Hex, OrderRecord>()
  let open = channels
  for (let from = 0; open.length > 0; from += triesAtOnce) {
    const idsOf = ({ id, refundNonce }: (typeof channels)[number]) =>
      Array.from({ length: triesAtOnce }, (_, at) =>
        channelRefundIdOf(id, refundNonce, from + at),
      )
    const found = await orders.find({ ids: open.flatMap(idsOf) })
    const byId = new Map(found.map((order) => [order.id, order]))
    open = open.filter((channel) => {
      const tries = idsOf(channel).flatMap((id) => byId.get(id) ?? [])
      const newest = tries.at(-1)
      if (newest) last.set(channel.id, newest)
      return tries.length === triesAtOnce
    })
  }
  return last
}

/** Returns how many rows of its refund nonce come before the one after this. */
export function countTries({ id }: Pick<OrderRecord, 'id'>): number {
  return Number(id.split('.')[1] ?? 0) + 1
}
