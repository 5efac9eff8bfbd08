import { randomUUID } from 'node:crypto'
import { checkMembers } from '../core/checkMembers.js'
import type { Orders } from '../orders/Orders.js'
import { runTarget } from './runTarget.js'
import { lookupHost, shareLookups } from './targets/findAddresses.js'
import { parseTargets } from './targets/parseTargets.js'
import { retryPause } from './targets/retryPause.js'
import {
  type RunWebhooksParameters,
  type WebhookTools,
  webhookMembers,
} from './targets/types.js'

/**
 * Tells receivers of every event of the orders, at least once and in order for
 * each order, until told to stop. What they refuse is tried again for ever; one
 * that answers 410 is sent nothing more by this run, and its cursor is kept.
 *
 * Promises no order between orders, and not that an event comes once: a
 * receiver knows one again by its `webhook-id`. Any number of processes may run
 * it over one store.
 *
 * @throws {@link WebhookTargetError} when a target is not one that events may
 * be sent to.
 * @throws {@link WebhookPackageNotFoundError} when `standardwebhooks` is not
 * installed.
 *
 * @example
 * ```ts
 * import type { Orders } from 'countersign/orders'
 * import type { PaymentStore } from 'countersign/store'
 * import { runWebhooks } from 'countersign/webhooks'
 *
 * export function tellWarehouse(orders: Orders, store: PaymentStore) {
 *   const stopping = new AbortController()
 *   process.once('SIGTERM', () => stopping.abort())
 *   return runWebhooks(orders, {
 *     store,
 *     targets: [
 *       {
 *         name: 'warehouse',
 *         url: 'https://warehouse.example/payments',
 *         secrets: [process.env.WAREHOUSE_SECRET ?? ''],
 *       },
 *     ],
 *     signal: stopping.signal,
 *   })
 * }
 * ```
 */
export async function runWebhooks(
  orders: Pick<Orders, 'events'>,
  parameters: RunWebhooksParameters,
): Promise<void> {
  await runWebhooksWith(orders, parameters, webhookTools)
}

export const webhookTools: WebhookTools = {
  lookup: lookupHost,
  pause: retryPause,
  timeout: 10_000,
  lease: 30_000,
  look: 500,
  standby: 2000,
}

/** The same with other tools. */
export async function runWebhooksWith(
  orders: Pick<Orders, 'events'>,
  parameters: RunWebhooksParameters,
  given: WebhookTools,
): Promise<void> {
  checkMembers(parameters, webhookMembers)
  const { store, signal } = parameters
  const tools = { ...given, lookup: shareLookups(given.lookup) }
  const targets = await parseTargets(parameters.targets)
  const observe: RunWebhooksParameters['observe'] = (observation) => {
    // Who only watches must not stop what is watched, nor may a promise of
    // theirs end the process.
    const tell = async () => parameters.observe?.(observation)
    tell().catch(() => undefined)
  }
  const owner = randomUUID()
  await Promise.all(
    targets.map((target) =>
      runTarget({ orders, store, target, owner, signal, observe, tools }),
    ),
  )
}
