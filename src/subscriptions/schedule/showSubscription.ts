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

/** A subscription, without credentials. */
export type Subscription = Destination & {
  id: string
  state: SubscriptionState
  /** The smart wallet that pays. */
  payer: Address
  permission: SpendPermission
  /**
   * What the schedule charges each period, a decimal in whole tokens. Absent if
   * you call `charge` yourself.
   */
  amount: string | undefined
  /** Number of the newest period that was charged or given up; 0 before. */
  period: bigint
  /** Unix seconds of the schedule's next step. Absent if it has none. */
  due: bigint | undefined
  metadata: JsonObject
  createdAt: bigint
}

/** A stored subscription: its schedule, and the order with its permission. */
export type StoredSubscription = {
  row: SubscriptionRecord
  held: StoredOrder
}

/** Builds the public view of a subscription. Pure. */
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

/** The state of a subscription, from its row and its order. Pure. */
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
