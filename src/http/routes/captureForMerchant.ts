import type { CaptureBody } from '../schemas/bodySchemas.js'
import { answer } from './answer.js'
import type { MerchantCall } from './route.js'
import { refusal } from './toProblem.js'

/** Longest wait for a capture, in seconds. A request times out after 30. */
const longestWait = 25

/**
 * Captures an order. Waits for the result as many seconds as the `Prefer: wait`
 * header says.
 */
export async function captureForMerchant({
  orders,
  orderId,
  request,
  body,
}: MerchantCall & {
  body: CaptureBody | undefined
}): Promise<Response> {
  const wait = parseWait(request)
  const result = await orders.capture({
    orderId,
    amount: body?.amount,
    timeout: wait * 1_000,
    answerAt: body?.answerAt,
    preconfirmedUpTo: body?.preconfirmedUpTo,
  })
  if (result.status === 'rejected') {
    const { reason, order } = result
    return refusal(reason, 'state', order.state)
  }
  return answer(result.status === 'unknown' ? 202 : 200, result, {
    'preference-applied': `wait=${wait}`,
  })
}

/** Parses `wait` of the `Prefer` header (RFC 7240); 0 when it is absent. */
function parseWait(request: Request): number {
  const prefer = request.headers.get('prefer') ?? ''
  const [, digits = '0'] =
    /(?:^|[,;\s])wait\s*=\s*(\d+)(?![^,;\s])/i.exec(prefer) ?? []
  return Math.min(Number(digits), longestWait)
}
