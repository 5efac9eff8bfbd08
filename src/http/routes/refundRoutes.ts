import type { RefundState } from '../../orders/index.js'
import type { QuerySchemas } from '../schemas/querySchemas.js'
import { answer } from './answer.js'
import { problem } from './problem.js'
import { refundForMerchant } from './refundForMerchant.js'
import { checkMayRefund } from './refundLimit.js'
import { merchantRoute, type Route } from './route.js'
import { refusal } from './toProblem.js'

/**
 * The routes for refunds. Only a merchant for whom `authorize` returns
 * `refunds` may request one.
 */
export function refundRoutes(
  queries: Pick<QuerySchemas, 'refundPayment'>,
): readonly Route[] {
  return [
    merchantRoute({
      name: 'refundOrder',
      method: 'POST',
      path: '/merchant/orders/{orderId}/refunds',
      summary: 'Requests a refund; the same refundId is the same refund',
      body: 'RefundRequest',
      answers: { 200: 'RefundTaken' },
      run: refundForMerchant,
    }),
    merchantRoute({
      name: 'listRefunds',
      method: 'GET',
      path: '/merchant/orders/{orderId}/refunds',
      summary: 'Lists the refunds of an order, and the amount left to refund',
      answers: { 200: 'RefundList' },
      run: async ({ orders, orderId }) => {
        const order = await orders.get({ orderId })
        const { refunds, refunded, refundable } = order
        return answer(200, { refunds, refunded, refundable })
      },
    }),
    merchantRoute({
      name: 'getRefund',
      method: 'GET',
      path: '/merchant/orders/{orderId}/refunds/{refundId}',
      summary: 'Reads a refund',
      answers: { 200: 'Refund' },
      run: async ({ orders, orderId, refundId }) =>
        answer(200, await orders.getRefund({ orderId, refundId })),
    }),
    ...signingRoutes(queries),
  ]
}

/**
 * Routes for refunds that a person signs in a wallet, because the server does
 * not have the recipient's key.
 */
function signingRoutes({
  refundPayment,
}: Pick<QuerySchemas, 'refundPayment'>): readonly Route[] {
  return [
    merchantRoute({
      name: 'getRefundPayment',
      method: 'GET',
      path: '/merchant/orders/{orderId}/refunds/{refundId}/payment',
      summary: 'Gives the payment of a refund for the recipient to sign',
      query: refundPayment,
      isExpensive: true,
      answers: { 200: 'RefundToSign' },
      run: async ({ orders, orderId, refundId, refunds, query }) => {
        checkMayRefund(refunds)
        const verdict = await orders.refundToSign({
          orderId,
          refundId,
          window: query.window === undefined ? undefined : BigInt(query.window),
        })
        if (!verdict.ok) return refuse(verdict.reason, verdict.refund.state)
        const { refund, payment } = verdict
        return answer(200, { refund, payment })
      },
    }),
    merchantRoute({
      name: 'postRefundSignature',
      method: 'POST',
      path: '/merchant/orders/{orderId}/refunds/{refundId}/payment',
      summary:
        'Takes the signature of a refund; repeating the request gives the same answer',
      body: 'RefundSignature',
      answers: { 200: 'RefundSigned' },
      run: async ({ orders, orderId, refundId, refunds, body }) => {
        checkMayRefund(refunds)
        const { signature } = body
        const ids = { orderId, refundId }
        const verdict = await orders.acceptRefund({ ...ids, signature })
        return verdict.ok
          ? answer(200, { refund: verdict.refund })
          : refuse(verdict.reason, verdict.refund.state)
      },
    }),
  ]
}

function refuse(
  reason: Parameters<typeof refusal>[0],
  state: RefundState,
): Response {
  if (reason !== 'notOpen') return refusal(reason, 'sent')
  const detail = `The refund is ${state}, which does not allow this.`
  return problem('notOpen', { detail })
}
