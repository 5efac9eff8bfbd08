import type { Hex } from 'viem'
import { parseMovementId } from '../../core/movementIds.js'
import type { OrderRecord, StoreReader } from '../../store/types.js'
import { decodeMovementTerms } from '../movements/movementTerms.js'
import { findNewestMovements } from '../record/noteMovements.js'
import { isMovementOver } from './followMovements.js'

/** A claim that can still be made. */
export type OpenClaim = {
  order: OrderRecord
  /** Total that it claims from the channel, in base units. */
  claimed: bigint
}

/**
 * Finds for each channel the open claim that claims most from it, by channel id.
 */
export async function findOpenClaims(
  {
    notes,
    orders,
    attempts,
  }: Pick<StoreReader, 'notes' | 'orders' | 'attempts'>,
  channelIds: readonly Hex[],
): Promise<ReadonlyMap<Hex, OpenClaim>> {
  const most = new Map<Hex, OpenClaim>()
  const newest = await findNewestMovements({ notes }, channelIds)
  const ids = [...new Set(newest)].filter(
    (id) => parseMovementId(id)?.action === 'claim',
  )
  if (ids.length === 0) return most
  const found = (await orders.find({ ids })).filter(isClaimOpen)
  if (found.length === 0) return most
  const byId = new Map(found.map((order) => [order.id, order]))
  const rows = await attempts.find({ orderIds: [...byId.keys()] })
  for (const { orderId, terms } of rows) {
    const order = byId.get(orderId)
    const decoded = decodeMovementTerms(terms)
    if (!order || decoded.action !== 'claim') continue
    for (const { channelId, claimed } of decoded.rows)
      if (claimed > (most.get(channelId)?.claimed ?? 0n))
        most.set(channelId, { order, claimed })
  }
  return most
}

const isClaimOpen = (order: OrderRecord): boolean =>
  order.state !== 'captured' &&
  order.reason !== 'nothingToClaim' &&
  !isMovementOver(order)
