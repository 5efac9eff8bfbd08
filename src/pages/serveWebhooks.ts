import { toJson } from '../core/toJson.js'
import { problem } from '../http/routes/problem.js'
import type { Principal } from '../http/types.js'
import { contextOf } from '../orders/engine.js'
import type { Orders } from '../orders/index.js'
import { getWebhookLag } from '../webhooks/getWebhookLag.js'
import { findTargets } from '../webhooks/progress.js'

/**
 * Answers with how far each webhook target is. Names only orders of the
 * merchant's recipients.
 */
export async function serveWebhooks(
  orders: Orders,
  principal: Principal | undefined,
): Promise<Response> {
  if (!principal) return problem('unauthorized')
  const { store } = contextOf(orders).context
  const own = orders.within({ recipients: principal.recipients })
  await store.open()
  const targets = await Promise.all(
    (await findTargets(store)).map(async (target) => ({
      name: target,
      ...(await getWebhookLag(own, { store, target })),
    })),
  )
  return new Response(toJson({ targets }), {
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    },
  })
}
