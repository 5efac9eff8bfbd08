import { InvalidFieldError } from '../../core/errors.js'
import { parseOrderId } from '../../orders/model/parseOrderId.js'
import type { DraftBody } from '../schemas/bodySchemas.js'
import { answer } from './answer.js'
import { RequestRefusedError } from './errors.js'
import type { MerchantCall } from './route.js'

/** Drafts an order. Its id is the `Idempotency-Key`, or a random one. */
export async function createForMerchant({
  orders,
  request,
  body,
  basePath,
}: MerchantCall & { body: DraftBody }): Promise<Response> {
  const { window, ...fields } = body
  const orderId = parseKey(request)
  const drafted = await orders
    .draft({
      ...fields,
      orderId,
      window: window === undefined ? undefined : BigInt(window),
    })
    .catch(refuseUsedId)
  const { id } = drafted.order
  const location = `${basePath}/merchant/orders/${encodeURIComponent(id)}`
  return answer(201, drafted, { location })
}

function parseKey(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  // URLs remove these segments, so no route could reach the order.
  if (key === '.' || key === '..')
    throw new InvalidFieldError(
      'Idempotency-Key',
      key,
      'an id that can be in a path',
    )
  try {
    return parseOrderId(key)
  } catch {
    throw new InvalidFieldError(
      'Idempotency-Key',
      key,
      'text of 1 to 128 characters',
    )
  }
}

/** The id is well formed, so this error means that it is in use. */
function refuseUsedId(error: unknown): never {
  const isId =
    error instanceof InvalidFieldError && error.details.field === 'orderId'
  throw isId ? new RequestRefusedError('orderIdInUse') : error
}
