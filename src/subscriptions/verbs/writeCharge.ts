import {
  insertOrder,
  type OrdersContext,
  sealContextOf,
} from '../../orders/engine.js'
import { openSealed } from '../../store/openSealed.js'
import type { OrderRecord, StoreWriter } from '../../store/types.js'
import { decodePermission } from '../permission/permissionJson.js'
import type { SpendPeriod } from '../permission/types.js'
import { factsOf, type PlannedOrder, planCharge } from '../schedule/orderRow.js'
import type { StoredSubscription } from '../schedule/showSubscription.js'

export type WantedCharge = {
  chargeId: string
  /** Amount in token units. */
  value: bigint
  period: SpendPeriod
  /** Time of the newest block, Unix seconds. */
  now: bigint
}

/**
 * Builds the order of a charge. It holds its own encrypted copy of the
 * permission's signature. Returns `undefined` if the stored signature cannot be
 * decrypted.
 */
export async function buildCharge(
  context: OrdersContext,
  { row, held: { order, attempt } }: StoredSubscription,
  { now, ...wanted }: WantedCharge,
): Promise<PlannedOrder | undefined> {
  if (attempt.signature === undefined) return undefined
  const signature = await openSealed(
    context,
    attempt.signature,
    sealContextOf('payment', order, attempt),
  )
  if (signature === undefined) return undefined
  const facts = factsOf(order, decodePermission(row.permission), now)
  const planned = planCharge(facts, { ...wanted, signature: '' })
  const sealed = await context.sealer.seal(
    signature,
    sealContextOf(
      'payment',
      { ...planned.order, version: 1, position: 0n },
      { ...planned.attempt, version: 1 },
    ),
  )
  return { ...planned, attempt: { ...planned.attempt, signature: sealed } }
}

/**
 * Inserts the order of a charge, which is due at once.
 *
 * @throws {@link DuplicateRecordError} when the charge is stored already.
 */
export async function insertCharge(
  context: OrdersContext,
  tables: StoreWriter,
  planned: PlannedOrder,
): Promise<OrderRecord> {
  const { order, attempt } = planned
  const at = context.now()
  const data = {
    payer: attempt.payer ?? order.recipient,
    attempt: attempt.number,
    validBefore: String(attempt.validBefore),
  }
  const inserted = await insertOrder(tables, planned, [
    { type: 'accepted', at, data },
    { type: 'captureRequested', at, data: {} },
  ])
  return inserted.order
}
