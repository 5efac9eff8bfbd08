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
 * The payment nonce of a charge in the database; the chain has none for
 * charges. The database refuses a second charge with the same nonce, so no
 * charge is stored twice, even under two subscription ids.
 */
export function chargeNonce(
  permission: SpendPermission,
  chargeId: string,
): Hex {
  return nonceOfMark(hashSpendPermission(permission), markOfId(chargeId))
}

/**
 * The nonce of {@link chargeNonce}, computed from the mark in the charge's
 * transaction when the charge id is not known.
 */
export function nonceOfMark(permissionHash: Hex, mark: Hex): Hex {
  return keccak256(`${permissionHash}${mark.slice(2)}`)
}
