import type { Address } from 'viem'
import {
  drawSender,
  insertOrder,
  movementEventOf,
  type OrdersContext,
  sealContextOf,
} from '../../orders/engine.js'
import type {
  Destination,
  OrderRecord,
  StoreWriter,
} from '../../store/types.js'
import type { PlannedMovement } from './planMovement.js'

/** A movement whose secret is encrypted, so that it can be stored. */
export type SealedMovement = Omit<PlannedMovement, 'secret'>

/**
 * Chooses the account that sends a movement: the recipient if its wallet is
 * configured, otherwise one of the relayers; `undefined` if there is none.
 */
export function movementSubmitter(
  context: OrdersContext,
  destination: Pick<Destination, 'chainId' | 'recipient'>,
): Address | undefined {
  return drawSender(context, destination)?.submitter.account
}

/**
 * Encrypts the secret of a movement. Call it before the write that inserts the
 * movement: the sealer may ask a key service.
 *
 * @throws {@link SealerUnavailableError} when the sealer does not answer.
 */
export async function sealMovement(
  { sealer }: Pick<OrdersContext, 'sealer'>,
  { order, attempt, secret }: PlannedMovement,
): Promise<SealedMovement> {
  const place = sealContextOf(
    'payment',
    { ...order, version: 1, position: 0n },
    { ...attempt, version: 1 },
  )
  const signature = await sealer.seal(secret, place)
  return { order, attempt: { ...attempt, signature } }
}

/**
 * Inserts a movement, which is due at once.
 *
 * @throws {@link DuplicateRecordError} when it is stored already.
 */
export async function insertMovement(
  { now }: Pick<OrdersContext, 'now'>,
  tables: StoreWriter,
  planned: SealedMovement,
): Promise<OrderRecord> {
  const inserted = await insertOrder(tables, planned, [])
  const event = movementEventOf(inserted.order, {
    type: 'captureRequested',
    at: now(),
    data: {},
  })
  if (event) await tables.events.append([event])
  return inserted.order
}
