import type { StoreWriter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { Changes } from '../model/changes.js'
import { type ChangeSet, collectChanges } from '../model/collectChanges.js'
import type { ProofConflictError } from '../model/errors.js'
import { loadOrders } from '../model/loadOrders.js'
import { type Finding, settleFindings } from './settleFindings.js'
import type { Watch } from './watchState.js'
import { writeUnit } from './writeUnit.js'

/**
 * Writes what the chain shows about orders, in one database transaction. If an
 * order's payment is stored for another order, reports that order and tries it
 * again later.
 */
export async function writeFindings(
  context: OrdersContext,
  { lease, aside }: Pick<Watch, 'lease' | 'aside'>,
  {
    findings,
    ids = findings.map(({ orderId }) => orderId),
    addMore = async () => undefined,
  }: {
    findings: readonly Finding[]
    ids?: readonly string[] | undefined
    /** Adds further changes to the same database transaction. */
    addMore?: (collected: ChangeSet, tables: StoreWriter) => Promise<void>
  },
): Promise<Changes> {
  const conflicts = new Map<string, ProofConflictError>()
  let loaded: Awaited<ReturnType<typeof loadOrders>> = new Map()
  const changes = await writeUnit(
    context,
    async (tables) => {
      conflicts.clear()
      loaded = await loadOrders(tables, { ids: [...new Set(ids)] })
      const collected = collectChanges(loaded)
      await settleFindings(context, tables, {
        collected,
        findings,
        onConflict: (orderId, error) => conflicts.set(orderId, error),
      })
      await addMore(collected, tables)
      return collected.close()
    },
    { lease },
  )
  for (const [orderId, error] of conflicts) {
    const destination = loaded.get(orderId)?.order
    aside.put(orderId, error, { orderId, destination })
  }
  return changes
}
