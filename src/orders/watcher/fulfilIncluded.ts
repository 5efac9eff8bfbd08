import type { OrderQuery } from '../../store/types.js'
import type { Changes } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import type { OrdersContext } from '../model/types.js'
import { destinationKey } from './destinationCursor.js'
import { findSettledPages } from './findSettled.js'
import { fulfilAtOnce } from './settleFindings.js'
import type { Watch } from './watchState.js'
import { writeUnit } from './writeUnit.js'

/** Maximum number of events per query. */
const pageSize = 200

/**
 * Reports the fulfilment of orders that a submitter or another process has
 * captured, if the policy fulfils at `included`. Follows the event stream, so
 * it reads each capture only once.
 */
export async function fulfilIncluded(
  context: OrdersContext,
  watch: Watch,
): Promise<void> {
  const { destination, memory } = watch
  let after = memory.fulfilledTo ?? (await loadPlace(context, watch))
  for (;;) {
    const page = await context.store.read(({ events }) =>
      events.find({ destinations: [destination], after, limit: pageSize }),
    )
    after = page.at(-1)?.cursor ?? after
    const ids = page.flatMap(({ type, orderId }) =>
      type === 'captured' && orderId !== undefined ? [orderId] : [],
    )
    if (ids.length) await fulfil(context, watch, { ids, after })
    memory.fulfilledTo = after
    if (page.length < pageSize) return
  }
}

/**
 * Loads the stored place in the event stream. Without one, first fulfils all
 * orders that are already captured.
 */
async function loadPlace(
  context: OrdersContext,
  watch: Watch,
): Promise<bigint> {
  const { store } = context
  const { destination } = watch
  const key = destinationKey('fulfilled', destination)
  const { value, newest } = await store.read(async (tables) => ({
    value: await tables.getValue(key),
    newest: await tables.events.find({ newest: [destination] }),
  }))
  if (value) return BigInt(String(value.after))
  const after = newest[0]?.cursor ?? 0n
  const orders = {
    find: (query: OrderQuery) =>
      store.read((tables) => tables.orders.find(query)),
  }
  for await (const page of findSettledPages(
    { orders },
    destination,
    'included',
    {},
  )) {
    const due = page.filter(
      ({ state, fulfilled, unexpected }) =>
        state === 'captured' && fulfilled === undefined && !unexpected,
    )
    const ids = due.map(({ id }) => id)
    if (ids.length) await fulfil(context, watch, { ids })
  }
  await fulfil(context, watch, { ids: [], after })
  return after
}

/** Writes the fulfilments and their place in the stream in one unit of work. */
async function fulfil(
  context: OrdersContext,
  { destination, lease }: Watch,
  { ids, after }: { ids: readonly string[]; after?: bigint | undefined },
): Promise<Changes> {
  const step = fulfilAtOnce(context.policy, context.now())
  return writeUnit(
    context,
    async (tables) => {
      const collected = collectChanges(await loadOrders(tables, { ids }))
      const key = destinationKey('fulfilled', destination)
      if (after !== undefined)
        await tables.setValue(key, { after: String(after) })
      for (const id of new Set(ids)) collected.apply(id, [step])
      return collected.close()
    },
    { lease },
  )
}
