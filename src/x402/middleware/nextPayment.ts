import type { X402Gate, X402Payment } from '../gate/types.js'

/**
 * Sells the answers of a Next.js route handler. The handler gets the request
 * and the context as usual, and the payment as a third argument.
 *
 * If the handler calls `redirect`, `notFound` or a similar function, Next.js
 * answers and nothing is sold.
 *
 * @throws {@link InvalidFieldError} at a request, when the gate has no offer of
 * this name.
 *
 * @example
 * ```ts
 * import { nextPayment, type X402Gate } from 'countersign/x402'
 *
 * export const weatherRoute = (gate: X402Gate) =>
 *   nextPayment(gate, 'weather', () => Response.json({ sky: 'clear' }))
 * ```
 */
export function nextPayment<request extends Request, context>(
  gate: X402Gate,
  offer: string | readonly string[],
  handler: (
    request: request,
    context: context,
    payment: X402Payment,
  ) => Response | Promise<Response>,
): (request: request, context: context) => Promise<Response> {
  return (request, context) =>
    gate.answer(request, {
      offer,
      handler: (_, payment) => handler(request, context, payment),
    })
}
