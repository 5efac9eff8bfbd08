import {
  createPaymentHandler,
  type PaymentHandlerParameters,
} from 'countersign/http'
import { type Order, OrderNotFoundError, type Orders } from 'countersign/orders'

export const token = 'ab'.repeat(32)
const seller = `0x${'5e'.repeat(20)}` as const

export const order: Order = {
  chainId: 31337,
  token: `0x${'70'.repeat(20)}`,
  recipient: seller,
  id: 'one',
  state: 'drafted',
  attempt: 1,
  nonce: `0x${'0e'.repeat(32)}`,
  payer: undefined,
  kind: 'eip3009',
  amount: '12.5',
  atMost: undefined,
  value: 12_500_000n,
  primaryType: 'ReceiveWithAuthorization',
  validAfter: 100n,
  validBefore: 1_000n,
  spendableUntil: undefined,
  requested: undefined,
  reason: undefined,
  needsReview: false,
  unexpected: false,
  overpaid: false,
  metadata: {},
  createdAt: 160n,
  preconfirmed: undefined,
  capture: undefined,
  cancellation: undefined,
  refunds: [],
  refunded: 0n,
  refundable: 0n,
}

/** Orders that know the one order, and nothing beside what a test says. */
export function stubOrders(verbs: Partial<Orders> = {}): Orders {
  const orders: Partial<Orders> = {
    getForBuyer: async ({ orderId, buyerToken }) => {
      if (orderId !== order.id || buyerToken !== token)
        throw new OrderNotFoundError({ orderId })
      return { order, payment: undefined }
    },
    get: async () => order,
    within: () => orders as Orders,
    ...verbs,
  }
  // A verb that no test expects is not there, and fails what calls it.
  return orders as Orders
}

/** A handler of the one order, and how to ask it. */
export function openStub(
  verbs: Partial<Orders> = {},
  changes: Partial<PaymentHandlerParameters> = {},
): (path: string, init?: RequestInit) => Promise<Response> {
  const handle = createPaymentHandler(stubOrders(verbs), {
    basePath: '/payments',
    authorize: () => ({ recipients: [seller] }),
    ...changes,
  })
  return (path, { headers, ...init } = {}) =>
    handle(
      new Request(`https://shop.test${path}`, {
        ...init,
        headers: {
          authorization: `Bearer ${token}`,
          ...Object.fromEntries(new Headers(headers)),
        },
      }),
    )
}

/** The reason of a problem, with the field it names. */
export async function reasonOf(
  response: Response | Promise<Response>,
): Promise<[status: number, reason: string, field?: string]> {
  const { status, reason, field } = await (await response).json()
  return field === undefined ? [status, reason] : [status, reason, field]
}
