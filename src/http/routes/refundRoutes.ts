import { answer } from './answer.js'
import { refundForMerchant } from './refundForMerchant.js'
import { merchantRoute, type Route } from './route.js'

/** The routes for refunds. Requesting one needs a permission of its own. */
export function refundRoutes(): readonly Route[] {
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
      summary: 'Lists the refunds of an order, and what is left to refund',
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
  ]
}
