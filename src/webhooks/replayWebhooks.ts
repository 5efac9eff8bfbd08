import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import type { Orders } from '../orders/index.js'
import type { PaymentStore } from '../store/types.js'
import { loadProgress, requestReplay } from './progress.js'
import { WebhookTargetError } from './targets/errors.js'
import { parseTargetName } from './targets/parseTargetName.js'

/** Parameters of {@link replayWebhooks}. */
export type ReplayWebhooksParameters = {
  /** The store that the orders and `runWebhooks` use. */
  store: PaymentStore
  /** `name` of the target in `runWebhooks`. */
  target: string
  /** Sends every event after this cursor again; `0n` means all events. */
  after?: bigint | undefined
  /**
   * Sends every event again that happened at or after this time, in Unix
   * milliseconds. Pass either this or `after`.
   */
  since?: bigint | undefined
}

/**
 * Sends events to a webhook target again, such as after the receiver lost its
 * database. They have the same `webhook-id` as before. Works in any process that
 * has the store: the process that delivers begins with the replay within ten
 * seconds, or `runWebhooks` when it starts.
 *
 * Later events wait until these have arrived again. Only events of the target's
 * present `types` are sent.
 *
 * @throws {@link WebhookTargetError} when `target` is not a valid name, or
 * `runWebhooks` never served a target of this name.
 * @throws {@link InvalidFieldError} when not exactly one of `after` and `since`
 * is given, or it is not a `bigint` of 0 or more.
 *
 * @example
 * ```ts
 * import type { Orders } from 'countersign/orders'
 * import type { PaymentStore } from 'countersign/store'
 * import { replayWebhooks } from 'countersign/webhooks'
 *
 * export async function resendToday(orders: Orders, store: PaymentStore) {
 *   const since = BigInt(new Date().setHours(0, 0, 0, 0))
 *   await replayWebhooks(orders, { store, target: 'warehouse', since })
 * }
 * ```
 */
export async function replayWebhooks(
  orders: Pick<Orders, 'events'>,
  parameters: ReplayWebhooksParameters,
): Promise<void> {
  checkMembers(parameters, ['store', 'target', 'after', 'since'])
  const { store, target, after, since }: ReplayWebhooksParameters =
    Object(parameters)
  const name = parseTargetName(target, 'target')
  const field = since === undefined ? 'after' : 'since'
  const value: unknown = since ?? after
  const isOne = after === undefined || since === undefined
  if (!isOne || typeof value !== 'bigint' || value < 0n)
    throw new InvalidFieldError(
      field,
      shown(value),
      'a bigint of 0 or more, and the only one of after and since',
    )
  await store.open()
  if (!(await loadProgress({ store, target: { name } })))
    throw new WebhookTargetError(
      'target',
      'the name of a target that runWebhooks has served',
      { value: target },
    )
  const cursor = after ?? (await findCursor(orders, value))
  await requestReplay(store, { target: { name }, after: cursor })
}

/** Finds the cursor after which no event is earlier than a time. */
async function findCursor(
  orders: Pick<Orders, 'events'>,
  since: bigint,
): Promise<bigint> {
  let low = 0n
  let { cursor: high } = await orders.events({ after: 'latest' })
  while (low < high) {
    const middle = (low + high) / 2n
    const { events } = await orders.events({ after: middle, limit: 1 })
    const [next] = events
    if (next && next.at < since) low = next.cursor
    else high = middle
  }
  return low
}
