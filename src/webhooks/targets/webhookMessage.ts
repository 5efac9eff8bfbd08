import { hashText } from '../../core/hashText.js'
import { toJson } from '../../core/toJson.js'
import type { OrderEvent, OrderEventType } from '../../orders/index.js'
import type { WebhookPayload } from './types.js'

/**
 * Builds the message for an event. Each try sends the same message. Its id is
 * unique even among different databases.
 */
export function webhookMessage(event: OrderEvent): {
  id: string
  body: string
} {
  const { cursor, orderId, sequence, type, at } = event
  const { chainId, token, recipient } = event
  const place = [chainId, token, recipient, cursor, orderId ?? null, sequence]
  return {
    id: `evt_${hashText(toJson([...place, type, at])).slice(2, 42)}`,
    body: toJson(payloadOf(event)),
  }
}

function payloadOf<type extends OrderEventType>(
  event: OrderEvent<type>,
): WebhookPayload<type> {
  const { orderId, sequence, at, chainId, token, recipient } = event
  return {
    type: `order.${event.type}`,
    timestamp: new Date(Number(at)).toISOString(),
    data: {
      ...event.data,
      orderId,
      sequence,
      chainId,
      token,
      recipient,
      at: String(at),
    },
  }
}
