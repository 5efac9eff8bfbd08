import {
  fields,
  integerForm,
  listOf,
  optional,
  type Setting,
  setting,
  textForm,
} from '../../store/setting.js'
import type { OrderQuery } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { rulesOf } from '../model/apply.js'
import type { Changes } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import { findSettledPages } from './findSettled.js'
import { fulfilAtOnce } from './settleFindings.js'
import { watchKey } from './watchKeys.js'
import type { FulfilledTo, Watch } from './watchState.js'
import { writeUnit } from './writeUnit.js'

/** Most events per query. */
const pageSize = 200

/**
 * Adds the `fulfil` event to orders that a submitter or another process has
 * captured, if the policy fulfils at `included`. Reads captures from the
 * events, so that each is read only once.
 *
 * Reads no further than `checkFresh` did, so that this poll has found the block
 * of each capture in the chain. An order whose block was not found waits,
 * without delaying others.
 */
export async function fulfilIncluded(
  context: OrdersContext,
  watch: Watch,
): Promise<void> {
  const { destinations, memory } = watch
  const { freshTo = 0n, held } = memory
  let place = memory.fulfilled ?? (await loadPlace(context, watch))
  memory.fulfilled = place
  for (;;) {
    const { after } = place
    const page = await context.store.read(({ events }) =>
      events.find({ destinations, after, limit: pageSize }),
    )
    const asked = page.filter(({ cursor }) => cursor <= freshTo)
    const captured = asked.flatMap(({ type, orderId }) =>
      type === 'captured' && orderId !== undefined ? [orderId] : [],
    )
    const all = [...new Set([...place.waiting, ...captured])]
    const ids = all.filter((id) => !held.has(id))
    place = {
      after: asked.at(-1)?.cursor ?? after,
      waiting: new Set(all.filter((id) => held.has(id))),
    }
    if (ids.length || captured.length)
      await fulfil(context, watch, { ids, place })
    memory.fulfilled = place
    if (asked.length < pageSize) return
  }
}

/**
 * Loads the event up to which orders were fulfilled. If none is stored, first
 * fulfils all orders that are captured already.
 */
async function loadPlace(
  context: OrdersContext,
  watch: Watch,
): Promise<FulfilledTo> {
  const { store } = context
  const { chainId, destinations } = watch
  const stored = await store.read(fulfilledSetting(context, chainId).load)
  if (stored) return { ...stored, waiting: new Set(stored.waiting) }
  const { held, freshTo: after = 0n } = watch.memory
  const waiting = new Set<string>()
  const orders = {
    find: (query: OrderQuery) =>
      store.read((tables) => tables.orders.find(query)),
  }
  for await (const page of findSettledPages(
    { orders },
    destinations,
    'included',
    {},
  )) {
    const due = page.filter(
      ({ state, fulfilled, unexpected }) =>
        state === 'captured' && fulfilled === undefined && !unexpected,
    )
    const ids = due.map(({ id }) => id)
    for (const id of ids) if (held.has(id)) waiting.add(id)
    const sure = ids.filter((id) => !held.has(id))
    if (sure.length) await fulfil(context, watch, { ids: sure })
  }
  const place = { after, waiting }
  await fulfil(context, watch, { ids: [], place })
  return place
}

function fulfilledSetting(
  context: Pick<OrdersContext, 'watches'>,
  chainId: number,
): Setting<{ after: bigint; waiting?: readonly string[] | undefined }> {
  const form = { after: integerForm, waiting: optional(listOf(textForm)) }
  return setting(watchKey(context, { chainId }, 'fulfilled'), fields(form))
}

/**
 * Writes the `fulfil` events, and how far the events were read, in one database
 * transaction.
 */
async function fulfil(
  context: OrdersContext,
  { chainId, destinations, lease, memory: { freshTo = 0n } }: Watch,
  { ids, place }: { ids: readonly string[]; place?: FulfilledTo | undefined },
): Promise<Changes> {
  const step = fulfilAtOnce(context.policy, rulesOf(context))
  return writeUnit(
    context,
    async (tables) => {
      const collected = collectChanges(await loadOrders(tables, { ids }))
      if (place)
        await fulfilledSetting(context, chainId).write(tables, {
          ...place,
          waiting: [...place.waiting],
        })
      // A submitter may have captured an order again, in a block that this poll
      // has not checked. Such an order must wait.
      const later = await tables.events.find({
        destinations,
        after: freshTo,
        limit: pageSize,
      })
      const unasked = later.flatMap(({ type, orderId }) =>
        type === 'captured' ? [orderId] : [],
      )
      for (const id of new Set(ids))
        if (!unasked.includes(id)) collected.apply(id, [step])
      return collected.close()
    },
    { lease },
  )
}
