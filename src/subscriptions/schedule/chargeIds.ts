import { type Hex, keccak256 } from 'viem'
import { markOfId } from '../charges/chargePayment.js'
import { hashSpendPermission } from '../permission/spendPermissionTypedData.js'
import type { SpendPermission } from '../permission/types.js'

/** The id of the scheduled charge of a period. */
export function chargeIdOf(period: bigint): string {
  return `period-${period}`
}

/** The id of the order that a charge is. */
export function chargeOrderId(
  subscriptionId: string,
  chargeId: string,
): string {
  return `${subscriptionId}/${chargeId}`
}

/**
 * The nonce on record of a charge. The chain knows none: it only makes a second
 * record of one charge impossible, whatever id its subscription has.
 */
export function chargeNonce(
  permission: SpendPermission,
  chargeId: string,
): Hex {
  return nonceOfMark(hashSpendPermission(permission), markOfId(chargeId))
}

/** {@link chargeNonce} by what the chain shows. */
export function nonceOfMark(permissionHash: Hex, mark: Hex): Hex {
  return keccak256(`${permissionHash}${mark.slice(2)}`)
}
