import { addAll } from '../../core/addAll.js'
import type { OrderRecord } from '../../store/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { findOpen } from '../evidence/findOpen.js'
import { type Changes, noChanges } from '../model/changes.js'
import { kindOf, knowsKind } from '../model/kindOf.js'
import { loadOrders } from '../model/loadOrders.js'
import { putAside } from '../model/putAside.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import type { Finding } from './settleFindings.js'
import type { Watch } from './watchState.js'
import { writeFindings } from './writeFindings.js'

const pageSize = 500

/**
 * Asks the chain about each open order whose payment nonce is not in events of
 * the token, such as a permit, and writes its end. If the node does not answer
 * about an order, puts that order aside.
 */
export async function askSeparately(
  context: OrdersContext,
  watch: Watch,
): Promise<Changes> {
  const kinds = [...context.kinds.values()]
  if (kinds.every(({ hasOwnNonce }) => hasOwnNonce)) return noChanges()
  const findings: Finding[] = []
  for (let after: bigint | undefined; ; ) {
    const page = await loadPage(context, watch, after)
    const spent = await findSpent(context, watch, page.asked)
    const ends = spent.map((stored) => findEnd(context, watch, stored))
    addAll(findings, (await Promise.all(ends)).flat())
    after = page.after
    if (after === undefined) break
  }
  if (findings.length === 0) return noChanges()
  return writeFindings(context, watch, { findings })
}

/** Loads the orders to ask about among the next open ones. */
function loadPage(
  context: OrdersContext,
  { destination, aside }: Watch,
  after: bigint | undefined,
): Promise<{ asked: StoredOrder[]; after: bigint | undefined }> {
  const isAsked = (order: OrderRecord) =>
    knowsKind(context, order) &&
    !kindOf(context, order).hasOwnNonce &&
    !aside.isWaiting(order.id)
  return context.store.read(async (tables) => {
    const query = { unsettled: destination, after, limit: pageSize }
    const orders = await tables.orders.find(query)
    const ids = orders.filter(isAsked).map(({ id }) => id)
    const found = [...(await loadOrders(tables, { ids })).values()]
    // Nobody can have captured a payment that we hold no signature for.
    const asked = found.filter(
      ({ attempt }) => attempt.signatureHash !== undefined,
    )
    const last = orders.length < pageSize ? undefined : orders.at(-1)
    return { asked, after: last?.position }
  })
}

/** The orders whose payments are spent; none if the node does not answer. */
async function findSpent(
  context: OrdersContext,
  { client, destination, heads, aside }: Watch,
  asked: readonly StoredOrder[],
): Promise<StoredOrder[]> {
  const name = 'payments without events'
  const { number } = heads.latest
  try {
    const open = await findOpen(context, client, destination, asked, number)
    aside.clear(name)
    return asked.filter(({ attempt }) => open.spent.has(attempt.nonce))
  } catch (error) {
    putAside(aside, name, error)
    return []
  }
}

async function findEnd(
  context: OrdersContext,
  { client, heads, aside }: Watch,
  { order, attempt }: StoredOrder,
): Promise<Finding[]> {
  const { kinds } = context
  const block = heads.latest.number
  try {
    const asked = { order, attempt, kinds, block }
    const evidence = await findEvidence(client, asked)
    aside.clear(order.id)
    // The expiry step decides about the end of the window.
    if (!evidence || evidence.kind === 'expired') return []
    return [{ orderId: order.id, attempt: attempt.number, evidence }]
  } catch (error) {
    putAside(aside, order.id, error, order.id)
    return []
  }
}
