import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { parseAmount } from '../../core/amount.js'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import {
  checkChainClock,
  clientOf,
  loadOrder,
  showOrder,
  writeCaptureRequests,
} from '../../orders/engine.js'
import type { Order } from '../../orders/index.js'
import { DuplicateRecordError } from '../../store/errors.js'
import type {
  Destination,
  OrderRecord,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { isMark } from '../charges/chargePayment.js'
import { findPeriod } from '../permission/periodAt.js'
import { decodePermission } from '../permission/permissionJson.js'
import type { SpendPeriod } from '../permission/types.js'
import { chargeNonce } from '../schedule/chargeIds.js'
import type { PlannedOrder } from '../schedule/orderRow.js'
import {
  type StoredSubscription,
  stateOf,
} from '../schedule/showSubscription.js'
import { loadSubscription, type SubscriptionsContext } from './context.js'
import { parseSubscriptionId } from './draftSubscription.js'
import { buildCharge, insertCharge } from './writeCharge.js'

/** Parameters of `charge`. */
export type ChargeSubscriptionParameters = {
  subscriptionId: string
  /**
   * Your id for this charge, unique in the subscription; up to 63 characters. A
   * repeated id means the same charge and never charges twice. To charge again
   * after a charge expired or was voided, take a new id. The schedule uses the
   * ids `period-1`, `period-2` and so on.
   */
  chargeId: string
  /** A decimal such as `'9.99'`. @default the amount of the schedule */
  amount?: string | undefined
}

/** Why a charge is not made. */
export type ChargeRefusal =
  /** `chargeId` belongs to a charge of another amount, or to another order. */
  | 'chargeConflict'
  /** The payer has not signed, or the subscription is canceled or has ended. */
  | 'notOpen'
  /** The first period of the permission has not begun. */
  | 'notYetValid'
  /** The amount is more than the permission allows in one period. */
  | 'exceedsAllowance'
  /** Too little time is left in the current period to send a transaction. */
  | 'deadlinePassed'
  /** The stored signature cannot be decrypted with the keys of the sealer. */
  | 'sealBroken'
  /**
   * The period ended before the charge was paid. To charge again, choose a new
   * id.
   */
  | 'expired'
  /**
   * You voided the charge, or canceled the subscription. To charge again,
   * choose a new id.
   */
  | 'voided'

/** The order of the charge, or why the charge is not made. */
export type ChargeVerdict =
  /**
   * A worker sends the charge, or it is already paid: `order.state` says which.
   */
  | { ok: true; order: Order }
  | {
      ok: false
      reason: ChargeRefusal
      /** The order, if an earlier call made this charge and it ended unpaid. */
      order?: Order | undefined
    }

/** Implements `charge` of `Subscriptions`. */
export async function chargeSubscription(
  subscriptions: SubscriptionsContext,
  parameters: ChargeSubscriptionParameters,
): Promise<ChargeVerdict> {
  checkMembers(parameters, ['subscriptionId', 'chargeId', 'amount'])
  const { context, schedule } = subscriptions
  const id = parseSubscriptionId(parameters.subscriptionId)
  const chargeId = parseSubscriptionId(parameters.chargeId, 'chargeId')
  if (isMark(chargeId))
    throw new InvalidFieldError(
      'chargeId',
      shown(chargeId),
      'any id but a 32-byte hash',
    )
  const found = await context.store.read((tables) =>
    loadSubscription(tables, context, id),
  )
  const value = chargeValueOf(found, parameters.amount)
  const known = await writeAgain(context, (tables) =>
    repeatCharge(subscriptions, tables, { id, chargeId, value }),
  )
  if (known) return known
  if (!isChargeable(found)) return { ok: false, reason: 'notOpen' }
  const { message } = decodePermission(found.row.permission)
  if (value > message.allowance)
    return { ok: false, reason: 'exceedsAllowance' }
  const now = await getChainTime(subscriptions, found.row)
  const period = findPeriod(message, now)
  if (!period)
    return {
      ok: false,
      reason: now < message.start ? 'notYetValid' : 'notOpen',
    }
  if (now + schedule.margin >= period.end)
    return { ok: false, reason: 'deadlinePassed' }
  return addCharge(subscriptions, found, { chargeId, value, period, now })
}

async function addCharge(
  subscriptions: SubscriptionsContext,
  found: StoredSubscription,
  wanted: { chargeId: string; value: bigint; period: SpendPeriod; now: bigint },
): Promise<ChargeVerdict> {
  const { context } = subscriptions
  const { id } = found.row
  const { chargeId, value } = wanted
  const planned = await buildCharge(context, found, wanted)
  if (!planned) return { ok: false, reason: 'sealBroken' }
  const write = (charge: PlannedOrder) =>
    writeAgain(context, async (tables): Promise<ChargeVerdict> => {
      const current = await loadSubscription(tables, context, id)
      if (!isChargeable(current)) return { ok: false, reason: 'notOpen' }
      const { id: orderId } = await insertCharge(context, tables, charge)
      await watchCharge(tables, current)
      return {
        ok: true,
        order: showOrder(await loadOrder(tables, context, orderId)),
      }
    })
  return write(planned).catch(async (error: unknown) => {
    if (!(error instanceof DuplicateRecordError)) throw error
    // Another call made the same charge at the same time.
    const known = await writeAgain(context, (tables) =>
      repeatCharge(subscriptions, tables, { id, chargeId, value }),
    )
    return known ?? { ok: false, reason: 'chargeConflict' }
  })
}

/**
 * Returns the verdict on a charge that is already stored, and requests it again
 * if it was refused before it was sent. Returns `undefined` if there is none.
 */
async function repeatCharge(
  { context }: SubscriptionsContext,
  tables: StoreWriter,
  { id, chargeId, value }: { id: string; chargeId: string; value: bigint },
): Promise<ChargeVerdict | undefined> {
  const found = await loadSubscription(tables, context, id)
  const permission = decodePermission(found.row.permission)
  const nonces = [chargeNonce(permission, chargeId)]
  // Searches by nonce, which is computed from the charge's mark. A charge that
  // was found on the chain may have its mark as id, so a search by id would
  // miss it.
  const [attempt] = await tables.attempts.find({ nonces })
  if (!attempt) return undefined
  const { orderId } = attempt
  const [order] = await tables.orders.find({ ids: [orderId] })
  if (order?.value !== value) return { ok: false, reason: 'chargeConflict' }
  const reason = endOf(order, found)
  if (order.state === 'stored' && reason === undefined) {
    await writeCaptureRequests(context, tables, [orderId])
    await watchCharge(tables, found)
  }
  const shown = showOrder(await loadOrder(tables, context, orderId))
  return reason === undefined
    ? { ok: true, order: shown }
    : { ok: false, reason, order: shown }
}

/**
 * Says why a stored charge is neither paid nor sent any more. Returns
 * `undefined` for a charge that is paid, in flight, or may be sent again.
 */
function endOf(
  { state }: Pick<OrderRecord, 'state'>,
  found: StoredSubscription,
): 'expired' | 'voided' | 'notOpen' | undefined {
  switch (state) {
    case 'captured':
    case 'capturing':
      return undefined
    case 'stored':
      return isChargeable(found) ? undefined : 'notOpen'
    case 'expired':
    case 'voided':
      return state
    default:
      return 'notOpen'
  }
}

/**
 * Makes the subscription due now, so that the next run of its schedule notices
 * that the permission was revoked.
 */
async function watchCharge(
  tables: StoreWriter,
  { row }: StoredSubscription,
): Promise<void> {
  await tables.subscriptions.update([{ ...row, due: 0n }])
}

function chargeValueOf(
  { row, held }: StoredSubscription,
  amount: string | undefined,
): bigint {
  const value =
    amount === undefined ? row.price : parseAmount(amount, held.order.decimals)
  if (value !== undefined) return value
  throw new InvalidFieldError(
    'amount',
    shown(amount),
    'given, since the subscription has no fixed amount',
  )
}

function isChargeable({ row, held }: StoredSubscription): boolean {
  return ['active', 'pastDue', 'unpaid'].includes(stateOf(row, held.order))
}

/**
 * The time of the newest block, in Unix seconds.
 *
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120 s.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export async function getChainTime(
  { context }: SubscriptionsContext,
  destination: Destination,
): Promise<bigint> {
  const client = clientOf(context, destination)
  const head = await getBlockHead(client, 'latest')
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: 'has no latest block',
    })
  const { chainId } = destination
  checkChainClock(context, { timestamp: head.timestamp, chainId })
  return head.timestamp
}
