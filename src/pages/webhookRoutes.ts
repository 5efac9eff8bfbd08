import * as z from 'zod'
import { answer } from '../http/routes/answer.js'
import { checkMayOperate } from '../http/routes/checkMayOperate.js'
import { RequestRefusedError } from '../http/routes/errors.js'
import { merchantRoute, type Route } from '../http/routes/route.js'
import { placeSchema } from '../http/schemas/fieldSchemas.js'
import { contextOf } from '../orders/engine.js'
import type { Orders } from '../orders/index.js'
import { getWebhookLag } from '../webhooks/getWebhookLag.js'
import { findTargets, isReplayRequested } from '../webhooks/progress.js'
import { replayWebhooks } from '../webhooks/replayWebhooks.js'
import { WebhookTargetError } from '../webhooks/targets/errors.js'

/**
 * The routes of webhooks. One answers with how far each target is, and names
 * only orders of the merchant's recipients. The other replays the events of
 * every recipient, so that only a merchant with `operates: true` may use it.
 */
export function webhookRoutes(orders: Orders): readonly Route[] {
  const { store } = contextOf(orders).context
  return [
    merchantRoute({
      name: 'listWebhooks',
      method: 'GET',
      path: '/webhooks',
      summary: 'Says how far each webhook target is',
      answers: {},
      run: async ({ recipients, operates }) => {
        const own = orders.within({ recipients })
        await store.open()
        const targets = await Promise.all(
          (await findTargets(store)).map(async (name) => ({
            name,
            ...(await getWebhookLag(own, { store, target: name })),
            ...(operates && {
              isReplayRequested: await isReplayRequested({
                store,
                target: { name },
              }),
            }),
          })),
        )
        return answer(200, { targets, ...(operates && { mayReplay: true }) })
      },
    }),
    merchantRoute({
      name: 'replayWebhooks',
      method: 'POST',
      path: '/merchant/webhooks/replay',
      summary: 'Delivers events to a webhook target once more',
      body: 'Nothing',
      query: z.strictObject({ target: z.string(), since: placeSchema() }),
      answers: {},
      run: async ({ operates, query: { target, since } }) => {
        checkMayOperate(operates)
        await replayWebhooks(orders, {
          store,
          target,
          since: BigInt(since),
        }).catch(refuseTarget)
        return answer(200, { replayed: true })
      },
    }),
  ]
}

/** A wrong target is a fault of the request; any other error is not. */
function refuseTarget(error: unknown): never {
  if (!(error instanceof WebhookTargetError)) throw error
  throw new RequestRefusedError('invalidField', {
    field: 'target',
    detail: `target must be ${error.details.expected}.`,
  })
}
