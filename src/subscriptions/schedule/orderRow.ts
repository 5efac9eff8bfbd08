import type { Hex } from 'viem'
import { word } from '../../core/words.js'
import { draftedOrder, unsignedAttempt } from '../../orders/engine.js'
import type {
  AttemptRecord,
  OrderRecord,
  SubscriptionRecord,
} from '../../store/types.js'
import { encodeTerms } from '../charges/chargePayment.js'
import { spendPermissionName } from '../charges/spendPermissions.js'
import { encodePermission } from '../permission/permissionJson.js'
import { hashSpendPermission } from '../permission/spendPermissionTypedData.js'
import type { SpendPeriod, SpendPermission } from '../permission/types.js'
import { chargeNonce, chargeOrderId } from './chargeIds.js'

export type PlannedOrder = {
  order: Omit<OrderRecord, 'version' | 'position'>
  attempt: Omit<AttemptRecord, 'version'>
}

export type SubscriptionFacts = {
  subscriptionId: string
  permission: SpendPermission
  decimals: number
  tokenName: string
  tokenVersion: string
  metadata: OrderRecord['metadata']
  /** Time of the newest block, Unix seconds. */
  createdAt: bigint
}

/**
 * Hash that no buyer token has: these orders have no buyer who opens a page.
 */
const noBuyerToken: Hex = /* @__PURE__ */ `0x${word('0x0')}`

/**
 * Builds the order that stores a permission and its signature. The order is
 * never captured. Revoking the permission cancels the order.
 */
export function planPermission(facts: SubscriptionFacts): PlannedOrder {
  const { subscriptionId, permission } = facts
  const { allowance, start, end } = permission.message
  return planOrder(facts, {
    id: subscriptionId,
    role: 'permission',
    parentId: undefined,
    value: allowance,
    nonce: hashSpendPermission(permission),
    validAfter: start - 1n,
    validBefore: end,
  })
}

/**
 * Builds the order of a charge, which a worker sends at once. The charge may be
 * sent only in its own period: a later transaction would use the next period's
 * allowance.
 */
export function planCharge(
  facts: SubscriptionFacts,
  {
    chargeId,
    value,
    period,
    signature,
  }: {
    chargeId: string
    /** Amount in token units. */
    value: bigint
    period: SpendPeriod
    /** The encrypted signature of the permission. */
    signature: string
  },
): PlannedOrder {
  const { subscriptionId, permission } = facts
  const { order, attempt } = planOrder(facts, {
    id: chargeOrderId(subscriptionId, chargeId),
    role: 'charge',
    parentId: subscriptionId,
    value,
    nonce: chargeNonce(permission, chargeId),
    validAfter: period.start - 1n,
    validBefore: period.end,
  })
  return {
    order: {
      ...order,
      state: 'stored',
      requested: 'capture',
      sendDue: 0n,
      lookDue: period.end,
    },
    attempt: {
      ...attempt,
      terms: encodeTerms(permission, chargeId),
      signedAfter: attempt.validAfter,
      signedBefore: attempt.validBefore,
      spendableUntil: attempt.validBefore,
      spendable: true,
      signature,
    },
  }
}

function planOrder(
  {
    permission,
    decimals,
    tokenName,
    tokenVersion,
    metadata,
    createdAt,
  }: SubscriptionFacts,
  {
    id,
    role,
    parentId,
    value,
    nonce,
    validAfter,
    validBefore,
  }: Pick<OrderRecord, 'id' | 'role' | 'parentId' | 'value'> &
    Pick<AttemptRecord, 'nonce' | 'validAfter' | 'validBefore'>,
): PlannedOrder {
  const { account: payer, spender, token } = permission.message
  const { chainId } = permission.domain
  return {
    order: {
      ...draftedOrder,
      chainId,
      token,
      recipient: spender,
      id,
      submitter: spender,
      kind: spendPermissionName,
      total: 'amount',
      value,
      decimals,
      primaryType: undefined,
      tokenName,
      tokenVersion,
      payer,
      buyerTokenHash: noBuyerToken,
      metadata,
      createdAt,
      deadline: validBefore,
      role,
      parentId,
    },
    attempt: {
      ...unsignedAttempt,
      chainId,
      token,
      orderId: id,
      number: 1,
      nonce,
      payer,
      validAfter,
      validBefore,
      value,
      terms: encodeTerms(permission, undefined),
    },
  }
}

/**
 * Builds a subscription's row. It has no due time, so the schedule does nothing
 * before the payer signs.
 */
export function planSubscription(
  { subscriptionId, permission }: SubscriptionFacts,
  price: bigint | undefined,
): Omit<SubscriptionRecord, 'version' | 'position'> {
  const { account, spender, token } = permission.message
  return {
    chainId: permission.domain.chainId,
    token,
    recipient: spender,
    id: subscriptionId,
    state: 'active',
    payer: account,
    permission: encodePermission(permission),
    price,
    period: 0n,
    chargeId: undefined,
    tries: 0,
    due: undefined,
  }
}

/**
 * Rebuilds, from database rows, the facts that the subscription was created
 * with.
 */
export function factsOf(
  order: OrderRecord,
  permission: SpendPermission,
  createdAt: bigint,
): SubscriptionFacts {
  const { id, decimals, tokenName, tokenVersion, metadata } = order
  return {
    subscriptionId: id,
    permission,
    decimals,
    tokenName,
    tokenVersion,
    metadata,
    createdAt,
  }
}
