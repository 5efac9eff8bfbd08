import {
  createMerchantClient,
  type FollowOrdersParameters,
} from 'countersign/client'
import type { RefundReason } from 'countersign/orders'
import type { OrderState } from 'countersign/store'
import type { Address } from 'viem'

export type OrderFilter = {
  states?: readonly OrderState[] | undefined
  payer?: string | undefined
}

/** How a file of the books is written. */
export type LedgerFormat = 'csv' | 'jsonLines' | 'hledger'

export type MerchantApi = ReturnType<typeof createMerchantApi>

/**
 * The merchant's routes, each asked with the key, once; tells when it is
 * refused.
 */
export function createMerchantApi(key: string, onRefused?: () => void) {
  const connection = {
    url: `${location.origin}/payments`,
    key,
    retries: 0,
    fetch: async (request: Request) => {
      const response = await fetch(request)
      if (response.status === 401) onRefused?.()
      return response
    },
  }
  const merchant = createMerchantClient(connection)
  return {
    /** The events from a cursor on, or from the present on. */
    follow({ onRetry, ...parameters }: FollowParameters) {
      const patient = createMerchantClient({ ...connection, onRetry })
      return patient.follow(parameters)
    },
    async list({ states, payer, before, limit = 50 }: ListParameters) {
      const pages = merchant.list({
        states: states?.length ? states : undefined,
        payer: payer ? (payer as Address) : undefined,
        before,
        limit,
      })
      const { value } = await pages.next()
      return value ?? { orders: [] }
    },
    get: (orderId: string) => merchant.get({ orderId }),
    /** `amount` is needed for an order with a ceiling. */
    capture: (orderId: string, amount?: string) =>
      merchant.capture({ orderId, amount }),
    void: (orderId: string) => merchant.void({ orderId }),
    reauthorize: (orderId: string) => merchant.reauthorize({ orderId }),
    cancel: (orderId: string) => merchant.approveCancellation({ orderId }),
    refund: (orderId: string, body: RefundBody) =>
      merchant.refund({ orderId, ...body }),
    reconcile: () => merchant.reconcile(),
    audit: () => merchant.audit(),
    /** The books from the first order on, with every transfer on the chain. */
    ledger: async (format: LedgerFormat) =>
      new Response(await merchant.ledger({ format, transfers: true })).blob(),
    health: () => merchant.health(),
  }
}

type RefundBody = {
  refundId: string
  amount: string
  reason: RefundReason
}

type FollowParameters = FollowOrdersParameters & {
  /** Is told when the stream is lost. */
  onRetry: () => void
}

type ListParameters = OrderFilter & {
  before?: string | undefined
  limit?: number | undefined
}
