import type {
  AuditReport,
  Order,
  OrdersHealth,
  ReconciliationReport,
  RefundReason,
} from 'countersign/orders'
import type { OrderState } from 'countersign/store'
import { askJson, askShop } from '../api/askShop.js'
import { Problem } from '../api/Problem.js'
import type { Wire, WireOrder } from './wire.js'

export type OrderFilter = {
  states?: readonly OrderState[] | undefined
  payer?: string | undefined
}

/** How a file of the books is written. */
export type LedgerFormat = 'csv' | 'jsonLines' | 'hledger'

export type OrderPage = {
  orders: readonly WireOrder[]
  /** Where the next page begins; absent after the last. */
  cursor?: string | undefined
}

export type MerchantApi = ReturnType<typeof createMerchantApi>

const base = '/payments/merchant'

/** The merchant's routes, each asked with the key; tells when it is refused. */
export function createMerchantApi(key: string, onRefused?: () => void) {
  async function noticeRefusal<answer>(
    asked: Promise<answer>,
  ): Promise<answer> {
    try {
      return await asked
    } catch (error) {
      if (error instanceof Problem && error.status === 401) onRefused?.()
      throw error
    }
  }

  const ask = <answer>(path: string, body?: unknown): Promise<answer> =>
    noticeRefusal(
      askJson(`${base}${path}`, {
        token: key,
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    )

  const at = (orderId: string) => `/orders/${encodeURIComponent(orderId)}`

  return {
    /** The events from a cursor on, or from the present on. */
    follow({ orderId, after, signal }: FollowParameters) {
      const query = orderId ? `?${new URLSearchParams({ orderId })}` : ''
      return askShop(`${base}/events${query}`, {
        token: key,
        headers: after === undefined ? {} : { 'last-event-id': after },
        signal,
      })
    },
    list({ states, payer, before, limit = 50 }: ListParameters) {
      const query = new URLSearchParams({ limit: String(limit) })
      if (states?.length) query.set('state', states.join(','))
      if (payer) query.set('payer', payer)
      if (before) query.set('before', before)
      return ask<OrderPage>(`/orders?${query}`)
    },
    get: (orderId: string) => ask<Wire<Order>>(at(orderId)),
    /** `amount` is needed for an order with a ceiling. */
    capture: (orderId: string, amount?: string) =>
      ask<{ status: string }>(`${at(orderId)}/capture`, { amount }),
    void: (orderId: string) =>
      ask<{ order: WireOrder }>(`${at(orderId)}/void`, {}),
    reauthorize: (orderId: string) =>
      ask<{ order: WireOrder }>(`${at(orderId)}/reauthorize`, {}),
    cancel: (orderId: string) =>
      ask<{ order: WireOrder }>(`${at(orderId)}/cancel`, {}),
    refund: (orderId: string, body: RefundBody) =>
      ask<{ order: WireOrder }>(`${at(orderId)}/refunds`, body),
    reconcile: () => ask<Wire<ReconciliationReport>>('/reconcile', {}),
    audit: () => ask<Wire<AuditReport>>('/audit'),
    /** The books from the first order on, with every transfer on the chain. */
    async ledger(format: LedgerFormat) {
      const query = new URLSearchParams({ format, transfers: 'true' })
      const asked = askShop(`${base}/ledger?${query}`, { token: key })
      return (await noticeRefusal(asked)).blob()
    },
    health: () => ask<Wire<OrdersHealth>>('/health'),
  }
}

type RefundBody = {
  refundId: string
  amount: string
  reason: RefundReason
}

type FollowParameters = {
  orderId?: string | undefined
  after: string | undefined
  signal: AbortSignal
}

type ListParameters = OrderFilter & {
  before?: string | undefined
  limit?: number | undefined
}
