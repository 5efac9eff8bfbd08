import { nonceName, type SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { conflictsOf } from '../model/conflictsOf.js'
import { findRecorded } from '../model/findStrays.js'
import type { NonceFate } from './explainNonce.js'

/**
 * Makes room for payments at whose place a removed one of another order is
 * stored. Finds account nonces whose payment stands as that of another order,
 * and makes them wait, so that the next try settles the rest.
 */
export async function setConflictsApart(
  { store }: Pick<OrdersContext, 'store'>,
  { aside, lease }: Pick<SubmitterState, 'aside' | 'lease'>,
  fates: readonly NonceFate[],
): Promise<void> {
  const found = fates.flatMap(({ evidence }) => evidence ?? [])
  const findConflict = conflictsOf(
    await store.write((tables) => findRecorded(tables, found), { lease }),
  )
  for (const { judged, stored, evidence } of fates) {
    const conflict = stored && findConflict(stored.order.id, evidence)
    if (conflict)
      aside.put(nonceName('settle', judged.nonce), conflict, stored.order.id)
  }
}
