import type { DraftBody } from '../schemas/bodySchemas.js'
import { answer } from './answer.js'
import { parseKey, refuseUsedId } from './idempotencyKey.js'
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
    .catch(refuseUsedId('orderId', 'orderIdInUse'))
  const { id } = drafted.order
  const location = `${basePath}/merchant/orders/${encodeURIComponent(id)}`
  return answer(201, drafted, { location })
}
