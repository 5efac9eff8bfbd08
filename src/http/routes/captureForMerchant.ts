import { answer } from './answer.js'
import type { MerchantCall } from './route.js'
import { refusal } from './toProblem.js'

/** Seconds a capture is waited for at most: an answer takes 30 in all. */
const longestWait = 25

/** Captures an order, and waits for it as long as is preferred. */
export async function captureForMerchant({
  orders,
  orderId,
  request,
}: MerchantCall): Promise<Response> {
  const wait = parseWait(request)
  const result = await orders.capture({ orderId, timeout: wait * 1_000 })
  if (result.status === 'rejected') {
    const { reason, order } = result
    return refusal(reason, 'state', order.state)
  }
  return answer(result.status === 'captured' ? 200 : 202, result, {
    'preference-applied': `wait=${wait}`,
  })
}

/** What RFC 7240 calls the wait; nothing where none is asked for. */
function parseWait(request: Request): number {
  const prefer = request.headers.get('prefer') ?? ''
  const [, digits = '0'] =
    /(?:^|[,;\s])wait\s*=\s*(\d+)(?![^,;\s])/i.exec(prefer) ?? []
  return Math.min(Number(digits), longestWait)
}
