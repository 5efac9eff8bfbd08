import { hashText } from '../../core/hashText.js'
import { toJson } from '../../core/toJson.js'
import type { OrderEvent } from '../../orders/model/types.js'
import type { WebhookPayload } from './types.js'

/**
 * Builds the message of an event. It is the same at each try. No other event
 * has the same id, not even in another database.
 */
export function webhookMessage(event: OrderEvent): {
  id: string
  body: string
} {
  const { cursor, orderId, sequence, type, at, data, ...destination } = event
  const { chainId, token, recipient } = destination
  const place = [chainId, token, recipient, cursor, orderId ?? null, sequence]
  const payload: WebhookPayload = {
    type: `order.${type}`,
    timestamp: new Date(Number(at)).toISOString(),
    data: {
      ...data,
      orderId,
      sequence,
      chainId,
      token,
      recipient,
      at: String(at),
    },
  }
  return {
    id: `evt_${hashText(toJson([...place, type, at])).slice(2, 42)}`,
    body: toJson(payload),
  }
}
