import type { Hex } from 'viem'
import type { ChannelRecord, OrderRecord } from '../../store/types.js'
import type { ChannelsContext } from './context.js'

/**
 * Lets go of deposits that need no more attention: they are final, or ended
 * unpaid.
 *
 * @returns the channels whose deposit a reorganization could still remove.
 */
export async function followDeposits(
  { context, book }: ChannelsContext,
  rows: readonly ChannelRecord[],
): Promise<Hex[]> {
  const open = rows.filter(({ depositId }) => depositId !== undefined)
  if (open.length === 0) return []
  const ids = open.flatMap(({ depositId }) => depositId ?? [])
  const orders = await context.store.read((tables) =>
    tables.orders.find({ ids }),
  )
  const byId = new Map(orders.map((order) => [order.id, order]))
  const followed: Hex[] = []
  for (const { id, depositId } of open) {
    const order = byId.get(depositId ?? '')
    if (order && !isOver(order)) followed.push(id)
    else
      await book.change(id, (channel) =>
        channel.depositId === depositId
          ? { ...channel, depositId: undefined }
          : undefined,
      )
  }
  return followed
}

/** True when a deposit is final, or can no longer be made. */
export function isOver({ state, finality }: OrderRecord): boolean {
  if (state === 'captured') return finality === 'finalized'
  return !['stored', 'capturing'].includes(state)
}
