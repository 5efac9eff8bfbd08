import { randomUUID } from 'node:crypto'
import { checkMembers } from '../core/checkMembers.js'
import {
  endsWhenIdle,
  type TrackedLoop,
  trackLoops,
  working,
} from '../core/untilIdle.js'
import type { Orders } from '../orders/index.js'
import { runTarget } from './runTarget.js'
import { lookupHost, shareLookups } from './targets/findAddresses.js'
import { parseTargets } from './targets/parseTargets.js'
import { retryPause } from './targets/retryPause.js'
import type {
  RunWebhooksParameters,
  TargetRun,
  WebhookTools,
} from './targets/types.js'

/**
 * Delivers every event of the orders to each target until the signal aborts.
 * Each event is delivered at least once, and the events of one order in their
 * order. A refused event is sent again until the receiver accepts it. If a
 * receiver answers 410, this run sends it nothing more, and its undelivered
 * events stay stored. In `orders.runDue`, later calls keep the pauses after
 * failures, and ask again an hour after a 410.
 *
 * Events of different orders can arrive in any sequence. An event can arrive
 * more than once: recognize it by its `webhook-id`. Any number of processes can
 * run this on one store.
 *
 * @throws {@link StoreError} when the store says `restart the process`.
 * @throws {@link WebhookTargetError} when a field of a target is invalid.
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
  replay: 10_000,
  standby: 2000,
}

/**
 * Like {@link runWebhooks}, with times and functions that tests can replace.
 */
export async function runWebhooksWith(
  orders: Pick<Orders, 'events'>,
  parameters: RunWebhooksParameters,
  given: WebhookTools,
): Promise<void> {
  checkMembers(parameters, ['store', 'targets', 'signal', 'observe'])
  const { store } = parameters
  const { lost } = store
  const signal = lost
    ? AbortSignal.any([parameters.signal, lost])
    : parameters.signal
  const tools = { ...given, lookup: shareLookups(given.lookup) }
  const targets = await parseTargets(parameters.targets)
  const observe: RunWebhooksParameters['observe'] = (observation) => {
    // An observer that throws or rejects must not stop the deliveries.
    const tell = async () => parameters.observe?.(observation)
    tell().catch(() => undefined)
  }
  const owner = randomUUID()
  const loops = trackLoops(parameters.signal)
  const running = targets.map((target) => {
    let loop: TrackedLoop | undefined
    loops.add({
      state: () => loop?.state() ?? working,
      wake: () => loop?.wake(),
    })
    const tell: TargetRun['tell'] = (told) => {
      loop = told
    }
    return runTarget({
      orders,
      store,
      target,
      owner,
      signal,
      isCall: endsWhenIdle(parameters.signal),
      observe,
      tools,
      tell,
    })
  })
  loops.complete()
  await Promise.all(running)
  if (lost?.aborted && !parameters.signal.aborted) throw lost.reason
}
