import { type Hex, keccak256 } from 'viem'
import { markOfId } from '../charges/chargePayment.js'
import { hashSpendPermission } from '../permission/spendPermissionTypedData.js'
import type { SpendPermission } from '../permission/types.js'

/** The id of the scheduled charge of a period. */
export function chargeIdOf(period: bigint): string {
  return `period-${period}`
}

export function chargeOrderId(
  subscriptionId: string,
  chargeId: string,
): string {
  return `${subscriptionId}/${chargeId}`
}

/**
 * The payment nonce stored for a charge; the chain has none. It keeps a charge
 * from being stored twice, even under two subscription ids.
 */
export function chargeNonce(
  permission: SpendPermission,
  chargeId: string,
): Hex {
  return nonceOfMark(hashSpendPermission(permission), markOfId(chargeId))
}

/** The same nonce, computed from the mark that the chain shows. */
export function nonceOfMark(permissionHash: Hex, mark: Hex): Hex {
  return keccak256(`${permissionHash}${mark.slice(2)}`)
}
