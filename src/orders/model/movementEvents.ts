import { parseMovementId } from '../../core/movementIds.js'
import type { LeftOut } from '../../payments/kind.js'
import type { OrderRecord, ProofRecord } from '../../store/types.js'
import type { OrderEvent, OrderEventData } from './orderEvents.js'

/** An event of a row of the table of orders. */
type Moved = {
  [type in keyof OrderEventData]: Pick<OrderEvent<type>, 'type' | 'data' | 'at'>
}[keyof OrderEventData]

type Facts = Omit<
  OrderEventData['channelMoved'],
  'movementId' | 'action' | 'channelId' | 'value'
>

/** What `startOrder` adds to `capturing` for a claim. */
type LeavesOut = { leftOut?: readonly LeftOut[] | undefined }

export function isMovement({ role }: Pick<OrderRecord, 'role'>): boolean {
  return role === 'movement'
}

/**
 * False for the proof of a movement that paid the recipient nothing: a deposit,
 * a refund, or a claim whose transaction settled nothing. The proof of any other
 * claim names the transfer that settled it.
 */
export function isOfBooks({
  orderId,
  value,
}: Pick<ProofRecord, 'orderId' | 'value'>): boolean {
  const movement = parseMovementId(orderId)
  return !movement || (movement.action === 'claim' && value > 0n)
}

/**
 * Turns an event of a movement's row into one of its channels. It names no
 * order, because nobody bought anything by it. Returns `undefined` for a step
 * that changes nothing for the channels.
 */
export function movementEventOf(
  row: Omit<OrderRecord, 'version' | 'position'>,
  event: Moved,
): Omit<OrderEvent<'channelMoved'>, 'cursor'> | undefined {
  const { id: movementId, chainId, token, recipient } = row
  const name = parseMovementId(movementId)
  const facts = factsOf(event)
  if (!name || !facts) return undefined
  const { action, channelId } = name
  return {
    chainId,
    token,
    recipient,
    orderId: undefined,
    sequence: 0,
    type: 'channelMoved',
    at: event.at,
    data: {
      movementId,
      action,
      ...(channelId === undefined ? {} : { channelId }),
      value: String(row.value),
      ...facts,
    },
  }
}

function factsOf(event: Moved): Facts | undefined {
  switch (event.type) {
    case 'captureRequested':
      return { state: 'requested' }
    case 'capturing': {
      const { leftOut }: typeof event.data & LeavesOut = event.data
      return { state: 'sent', ...(leftOut ? { leftOut } : {}) }
    }
    case 'captured': {
      const { transactionHash, blockNumber } = event.data
      return { state: 'captured', transactionHash, blockNumber }
    }
    case 'consumed':
    case 'canceled': {
      const { transactionHash, blockNumber } = event.data
      const shown = transactionHash ? { transactionHash } : {}
      return { state: event.type, ...shown, blockNumber }
    }
    case 'captureRejected':
      return { state: 'refused', reason: event.data.reason }
    case 'reorged':
      return {
        state: 'reorged',
        transactionHash: event.data.transactionHash,
      }
    case 'expired':
    case 'voided':
      return { state: event.type }
    default:
      return undefined
  }
}
