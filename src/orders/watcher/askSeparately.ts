import { nextTurn } from '../../core/wait.js'
import type { OrderRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { findOpen } from '../evidence/findOpen.js'
import { mostOpen } from '../evidence/getPaymentLogs.js'
import { putAside } from '../loop/putAside.js'
import { type Changes, joinChanges, noChanges } from '../model/changes.js'
import { hasTokenNonce, kindOf, knowsKind } from '../model/kindOf.js'
import { loadOrders } from '../model/loadOrders.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { Finding } from './settleFindings.js'
import type { TokenWatch } from './watchState.js'
import { writeFindings } from './writeFindings.js'

const pageSize = 500

type Part = {
  /** Position in the list of orders after which to begin. */
  after: bigint | undefined
  /** Most open orders to read, of any kind. @default 4000 */
  most?: number | undefined
}

/**
 * Asks the chain about open orders whose payment nonce no token log contains,
 * such as orders paid by a permit. Writes the outcome of those that ended. If
 * the node does not answer about an order, asks about it again later.
 */
export async function askSeparately(
  context: OrdersContext,
  watch: TokenWatch,
  { after: start, most = mostOpen }: Part,
): Promise<Changes> {
  if ([...context.kinds.values()].every(hasTokenNonce)) return noChanges()
  const written: Changes[] = []
  let after = start
  for (let left = most; left > 0; left -= pageSize) {
    context.signal?.throwIfAborted()
    const limit = Math.min(pageSize, left)
    const page = await loadPage(context, watch, { after, limit })
    const spent = await findSpent(context, watch, page.asked)
    const ends = spent.map((stored) => findEnd(context, watch, stored))
    const findings = (await Promise.all(ends)).flat()
    if (findings.length > 0)
      written.push(await writeFindings(context, watch, { findings }))
    after = page.after
    if (after === undefined) break
    // Pause between pages: without it, many pages would block the event loop.
    await nextTurn()
  }
  return joinChanges([noChanges(), ...written])
}

/** Loads the next open orders, and returns those to ask the chain about. */
function loadPage(
  context: OrdersContext,
  { destinations, aside }: TokenWatch,
  { after, limit }: { after: bigint | undefined; limit: number },
): Promise<{ asked: StoredOrder[]; after: bigint | undefined }> {
  const isAsked = (order: OrderRecord) =>
    knowsKind(context, order) &&
    !hasTokenNonce(kindOf(context, order)) &&
    !aside.isWaiting(order.id)
  return context.store.read(async (tables) => {
    const query = { unsettled: destinations, after, limit }
    const orders = await tables.orders.find(query)
    const ids = orders.filter(isAsked).map(({ id }) => id)
    const found = [...(await loadOrders(tables, { ids })).values()]
    // Without a signature from the payer, nobody can have captured the payment.
    const asked = found.filter(
      ({ attempt }) => attempt.signatureHash !== undefined,
    )
    const last = orders.length < limit ? undefined : orders.at(-1)
    return { asked, after: last?.position }
  })
}

/**
 * Returns the orders whose payment nonces were used; none if the node does not
 * answer.
 */
async function findSpent(
  context: OrdersContext,
  { client, chainId, token, heads, aside }: TokenWatch,
  asked: readonly StoredOrder[],
): Promise<StoredOrder[]> {
  const name = 'payments without events'
  const { number } = heads.latest
  try {
    const open = await findOpen(
      context,
      client,
      { chainId, token },
      asked,
      number,
    )
    aside.clear(name)
    return asked.filter(({ attempt }) => open.spent.has(attempt.nonce))
  } catch (error) {
    putAside(aside, name, error)
    return []
  }
}

async function findEnd(
  context: OrdersContext,
  { client, heads, aside }: TokenWatch,
  { order, attempt }: StoredOrder,
): Promise<Finding[]> {
  const { kinds } = context
  const block = heads.latest.number
  try {
    const asked = { order, attempt, kinds, block }
    const evidence = await findEvidence(client, asked)
    aside.clear(order.id)
    // A payment whose window ended is left to `expireDue`.
    if (!evidence || evidence.kind === 'expired') return []
    return [{ orderId: order.id, attempt: attempt.number, evidence }]
  } catch (error) {
    putAside(aside, order.id, error, {
      orderId: order.id,
      destination: order,
    })
    return []
  }
}
