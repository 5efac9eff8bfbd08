import type { Address } from 'viem'
import { formatAmount } from '../../core/amount.js'
import type { StoredOrder } from '../../orders/engine.js'
import type {
  Destination,
  JsonObject,
  SubscriptionRecord,
} from '../../store/types.js'
import { decodePermission } from '../permission/permissionJson.js'
import type { SpendPermission } from '../permission/types.js'
import type { SubscriptionState } from './types.js'

/** A subscription, without the payer's signature. */
export type Subscription = Destination & {
  id: string
  state: SubscriptionState
  /** The smart wallet that pays. */
  payer: Address
  permission: SpendPermission
  /**
   * Amount that the schedule charges each period, a decimal in whole tokens.
   * Absent if there is no schedule and you call `charge` yourself.
   */
  amount: string | undefined
  /**
   * Number of the newest period that was charged, or ended unpaid. 0 before the
   * first.
   */
  period: bigint
  /**
   * Time of the schedule's next step, in Unix seconds. Absent if there is no
   * next step.
   */
  due: bigint | undefined
  metadata: JsonObject
  createdAt: bigint
}

/**
 * A subscription in the database: its schedule, and the order that stores its
 * permission.
 */
export type StoredSubscription = {
  row: SubscriptionRecord
  held: StoredOrder
}

/** Builds the view of a subscription that callers get. */
export function showSubscription({
  row,
  held: { order },
}: StoredSubscription): Subscription {
  const { chainId, token, recipient, id, payer, price, period, due } = row
  return {
    chainId,
    token,
    recipient,
    id,
    state: stateOf(row, order),
    payer,
    permission: decodePermission(row.permission),
    amount:
      price === undefined ? undefined : formatAmount(price, order.decimals),
    period,
    due,
    metadata: order.metadata,
    createdAt: order.createdAt,
  }
}

/**
 * Derives the state of a subscription from its schedule and from the order that
 * stores its permission.
 */
export function stateOf(
  { state: schedule }: Pick<SubscriptionRecord, 'state'>,
  { state, requested }: Pick<StoredOrder['order'], 'state' | 'requested'>,
): SubscriptionState {
  switch (state) {
    case 'drafted':
      return 'drafted'
    case 'expired':
      return 'ended'
    case 'canceled':
    case 'voided':
      return 'canceled'
    case 'canceling':
      return 'canceling'
    default:
      return requested === 'cancel' ? 'canceling' : schedule
  }
}
