import { answer } from '../http/routes/answer.js'
import { merchantRoute, type Route } from '../http/routes/route.js'
import { contextOf } from '../orders/engine.js'
import type { Orders } from '../orders/index.js'
import { getWebhookLag } from '../webhooks/getWebhookLag.js'
import { findTargets } from '../webhooks/progress.js'

/**
 * Answers with how far each webhook target is. Names only orders of the
 * merchant's recipients.
 */
export function webhooksRoute(orders: Orders): Route {
  const { store } = contextOf(orders).context
  return merchantRoute({
    name: 'listWebhooks',
    method: 'GET',
    path: '/webhooks',
    summary: 'Says how far each webhook target is',
    answers: {},
    run: async ({ recipients }) => {
      const own = orders.within({ recipients })
      await store.open()
      const targets = await Promise.all(
        (await findTargets(store)).map(async (target) => ({
          name: target,
          ...(await getWebhookLag(own, { store, target })),
        })),
      )
      return answer(200, { targets })
    },
  })
}
