import { buyerOrder } from '../schemas/buyerOrder.js'
import { answer } from './answer.js'
import { problem } from './problem.js'
import { buyerRoute, type Route } from './route.js'
import { notOpen, refusal } from './toProblem.js'

/** The routes for buyers. Each needs the token of the order. */
export function buyerRoutes(): readonly Route[] {
  return [
    buyerRoute({
      name: 'getOrder',
      method: 'GET',
      path: '/orders/{orderId}',
      summary: 'Reads the order',
      answers: { 200: 'BuyerOrder' },
      run: async ({ order }) => answer(200, buyerOrder(order)),
    }),
    buyerRoute({
      name: 'getPayment',
      method: 'GET',
      path: '/orders/{orderId}/payment',
      summary: 'Gives the payment to sign, or a signed permit to cancel',
      answers: { 200: 'PaymentToSign' },
      run: async ({ order, payment }) =>
        payment ? answer(200, { payment }) : notOpen(order.state, 'sent'),
    }),
    buyerRoute({
      name: 'postPayment',
      method: 'POST',
      path: '/orders/{orderId}/payment',
      summary:
        'Takes the signed payment; repeating the request gives the same answer',
      body: 'SignedPayment',
      answers: { 200: 'BuyerOrder' },
      run: async ({ orders, order, orderId, body }) => {
        const verdict = await orders.accept({ orderId, payment: body })
        return verdict.ok
          ? answer(200, buyerOrder(verdict.order))
          : refusal(verdict.reason, 'sent', order.state)
      },
    }),
    ...cancellationRoutes(),
    buyerRoute({
      name: 'followOrder',
      method: 'GET',
      path: '/orders/{orderId}/events',
      summary: 'Follows the order: its state now, then each change',
      headers: lastEventId,
      answers: { 200: 'BuyerEventStream' },
      run: async ({ hub, order, request }) => {
        const { headers, signal } = request
        const lastEventId = headers.get('last-event-id')
        const stream = await hub.openOrder({ order, lastEventId, signal })
        return stream ?? problem('tooManyStreams')
      },
    }),
  ]
}

export const lastEventId: Readonly<Record<string, string>> = {
  'Last-Event-ID':
    'The id of the last event that was received. The stream sends the events after it.',
}

function cancellationRoutes(): readonly Route[] {
  return [
    buyerRoute({
      name: 'getCancellation',
      method: 'GET',
      path: '/orders/{orderId}/cancellation',
      summary: 'Gives the cancellation to sign',
      answers: { 200: 'CancellationToSign' },
      run: async ({ orders, orderId }) => {
        const asked = await orders.cancellationToSign({ orderId })
        if (!asked.ok) return refusal(asked.reason, 'state', asked.order.state)
        return answer(200, { cancellation: asked.cancellation })
      },
    }),
    buyerRoute({
      name: 'postCancellation',
      method: 'POST',
      path: '/orders/{orderId}/cancellation',
      summary: 'Takes the signed cancellation',
      body: 'SignedCancellation',
      answers: { 200: 'CancellationTaken' },
      run: async ({ orders, orderId, body }) => {
        const verdict = await orders.acceptCancellation({
          orderId,
          cancellation: body,
        })
        if (!verdict.ok)
          return refusal(verdict.reason, 'state', verdict.order.state)
        const order = buyerOrder(verdict.order)
        return answer(200, { ...verdict, ok: undefined, order })
      },
    }),
  ]
}
