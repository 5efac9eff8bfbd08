import type { Hex } from 'viem'
import { InvalidFieldError } from '../../core/errors.js'
import type { CaptureProof, ProofReceipt } from '../../core/receiptProof.js'
import { proofOf, same } from '../../core/receiptProof.js'
import type { Payment } from '../../core/types.js'
import {
  decodePermission,
  encodePermission,
} from '../permission/permissionJson.js'
import { markOf } from '../permission/spendCalls.js'
import { hashSpendPermission } from '../permission/spendPermissionTypedData.js'
import type { SpendPermission } from '../permission/types.js'
import { findUses } from './findUses.js'

/**
 * A charge, in the shape of the other payments of this library. The payer
 * signed the permission, not this message. A value without `chargeId` stands
 * for the permission itself, which can be revoked and is never charged.
 */
export type ChargePayment = Payment & {
  permission: SpendPermission
  chargeId: string | undefined
}

export type ChargeTerms = Readonly<Record<string, string>>

/**
 * The form of a mark: a 32-byte hash in hex, 66 characters. Charge ids of
 * merchants have at most 63, so no text can be both.
 */
const markForm = /^0x[\da-f]{64}$/

/**
 * True for a mark, the hash that identifies a charge on the chain. A charge
 * that was found on the chain, and whose id the database does not know, has its
 * mark as id.
 */
export function isMark(chargeId: string): chargeId is Hex {
  return markForm.test(chargeId)
}

/**
 * Returns the mark that identifies a charge on the chain: the hash of its id,
 * or the id itself if that is a mark already.
 */
export function markOfId(chargeId: string): Hex {
  return isMark(chargeId) ? chargeId : markOf(chargeId)
}

/** Encodes a permission and a charge id for the store. */
export function encodeTerms(
  permission: SpendPermission,
  chargeId: string | undefined,
): ChargeTerms {
  return {
    permission: JSON.stringify(encodePermission(permission)),
    ...(chargeId === undefined ? {} : { chargeId }),
  }
}

/**
 * Decodes what {@link encodeTerms} encoded.
 *
 * @throws {@link InvalidFieldError} when it is malformed.
 */
export function decodeTerms(
  terms: ChargeTerms | undefined,
): Pick<ChargePayment, 'permission' | 'chargeId'> {
  const { permission, chargeId } = terms ?? {}
  if (permission === undefined)
    throw new InvalidFieldError(
      'terms',
      terms,
      'an object with the spend permission that the payer signed',
    )
  return { permission: decodePermission(JSON.parse(permission)), chargeId }
}

/**
 * Proves a charge from the receipt of its transaction, which must hold the
 * manager's event and, after it, the exact `Transfer`. The caller has checked
 * that this transaction carries the mark of the charge.
 */
export function proveCharge(
  receipt: ProofReceipt,
  { permission, chargeId, message }: ChargePayment,
): Omit<CaptureProof, 'finality'> | undefined {
  if (chargeId === undefined) return undefined
  const use = findUses(receipt, permission).find(
    ({ value, logIndex }) => value === message.value && logIndex !== undefined,
  )
  const transfer = receipt.logs.find(
    ({ logIndex }) => use !== undefined && logIndex === use.logIndex,
  )
  return transfer && proofOf(receipt, transfer)
}

/** `SpendPermissionRevoked(bytes32,(address,address,address,uint160,uint48,uint48,uint48,uint256,bytes))`. */
export const revokedTopic: Hex =
  '0xff59e520513907d7deffc74c82b5492b06b2988d7d03dacfd4995de47fe94c95'

/** `SpendPermissionApproved(bytes32,(address,address,address,uint160,uint48,uint48,uint48,uint256,bytes))`. */
export const approvedTopic: Hex =
  '0x40a18f36db551498d122b5bfe203819b4c710502e7401e2bd6d2ccc6d2ceb558'

/** True when a receipt shows that a permission was revoked. */
export function provesRevocation(
  receipt: ProofReceipt,
  permission: SpendPermission,
): boolean {
  return hasLog(receipt, permission, revokedTopic)
}

/** True when a receipt shows that a permission was approved. */
export function provesApproval(
  receipt: ProofReceipt,
  permission: SpendPermission,
): boolean {
  return hasLog(receipt, permission, approvedTopic)
}

function hasLog(
  receipt: ProofReceipt,
  permission: SpendPermission,
  topic: Hex,
): boolean {
  const hash = hashSpendPermission(permission)
  return (
    receipt.status === 'success' &&
    receipt.logs.some(
      ({ address, topics }) =>
        same(address, permission.domain.verifyingContract) &&
        same(topics[0], topic) &&
        same(topics[1], hash),
    )
  )
}
