import type {
  AuditReport,
  Order,
  OrderState,
  OrdersHealth,
  ReconciliationReport,
} from 'countersign/orders'
import type { Wire, WireOrder } from './wire.js'

export type OrderFilter = {
  states?: readonly OrderState[] | undefined
  payer?: string | undefined
}

export type OrderPage = {
  orders: readonly WireOrder[]
  /** Where the next page begins; absent after the last. */
  cursor?: string | undefined
}

export type MerchantApi = ReturnType<typeof createMerchantApi>

/** What the server refused, in its own words. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly status: number
  readonly reason: string

  constructor(status: number, body: unknown) {
    const { detail, title, reason } = Object(body)
    super(String(detail ?? title ?? `The server answered ${status}.`))
    this.status = status
    this.reason = String(reason ?? 'unknown')
  }
}

const base = '/payments/merchant'

/** The merchant's routes, each asked with the key; tells when it is refused. */
export function createMerchantApi(key: string, onRefused?: () => void) {
  const authorization = `Bearer ${key}`

  async function ask<answer>(path: string, body?: unknown): Promise<answer> {
    const response = await fetch(`${base}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.status === 401) onRefused?.()
    if (!response.ok) throw new ProblemError(response.status, answer)
    // The types are the library's own, as JSON carries them.
    return answer as answer
  }

  const at = (orderId: string) => `/orders/${encodeURIComponent(orderId)}`

  return {
    authorization,
    eventsPath: `${base}/events`,
    list({ states, payer, before, limit = 50 }: ListParameters) {
      const query = new URLSearchParams({ limit: String(limit) })
      if (states?.length) query.set('state', states.join(','))
      if (payer) query.set('payer', payer)
      if (before) query.set('before', before)
      return ask<OrderPage>(`/orders?${query}`)
    },
    get: (orderId: string) => ask<Wire<Order>>(at(orderId)),
    capture: (orderId: string) =>
      ask<{ status: string }>(`${at(orderId)}/capture`, {}),
    void: (orderId: string) =>
      ask<{ order: WireOrder }>(`${at(orderId)}/void`, {}),
    reauthorize: (orderId: string) =>
      ask<{ order: WireOrder }>(`${at(orderId)}/reauthorize`, {}),
    cancel: (orderId: string) =>
      ask<{ order: WireOrder }>(`${at(orderId)}/cancel`, {}),
    reconcile: () => ask<Wire<ReconciliationReport>>('/reconcile', {}),
    audit: () => ask<Wire<AuditReport>>('/audit'),
    health: () => ask<Wire<OrdersHealth>>('/health'),
  }
}

type ListParameters = OrderFilter & {
  before?: string | undefined
  limit?: number | undefined
}
