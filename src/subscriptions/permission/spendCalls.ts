import { type Address, concatHex, encodeFunctionData, type Hex } from 'viem'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { hashText } from '../../core/hashText.js'
import { spendPermissionAbi as abi } from './spendPermissionAbi.js'
import { toStruct } from './spendPermissionTypedData.js'
import type { SignedSpendPermission, SpendPermission } from './types.js'

/** A call to the manager, ready to send. */
export type ManagerCall = { to: Address; data: Hex }

/**
 * The mark that identifies a charge on the chain: the hash of its id. The
 * charge's transaction carries it in its input data.
 *
 * @throws {@link InvalidFieldError} when `chargeId` is not a string.
 *
 * @example
 * ```ts
 * import { markOf } from 'countersign/subscriptions'
 *
 * const mark = markOf('invoice-2026-11')
 * ```
 */
export function markOf(chargeId: string): Hex {
  if (typeof chargeId !== 'string')
    throw new InvalidFieldError('chargeId', shown(chargeId), 'a string')
  return hashText(chargeId)
}

/** The call that approves the permission. Any account may send it. */
export function approveCall({
  permission,
  signature,
}: SignedSpendPermission): ManagerCall {
  const struct = toStruct(permission.message)
  return callOf(
    permission,
    encodeFunctionData({
      abi,
      functionName: 'approveWithSignature',
      args: [struct, signature],
    }),
  )
}

/**
 * Builds the call that charges `value`. The manager has no nonce for a charge,
 * and ignores bytes after the arguments. The mark (`markOf`) stands there, so
 * that the transaction shows which charge it makes.
 */
export function spendCall(
  permission: SpendPermission,
  { value, chargeId }: { value: bigint; chargeId: string },
): ManagerCall {
  const struct = toStruct(permission.message)
  const data = encodeFunctionData({
    abi,
    functionName: 'spend',
    args: [struct, value],
  })
  return callOf(permission, concatHex([data, markOf(chargeId)]))
}

/** The call that ends the permission for good. Only the spender may send it. */
export function revokeCall(permission: SpendPermission): ManagerCall {
  const struct = toStruct(permission.message)
  return callOf(
    permission,
    encodeFunctionData({
      abi,
      functionName: 'revokeAsSpender',
      args: [struct],
    }),
  )
}

function callOf({ domain }: SpendPermission, data: Hex): ManagerCall {
  return { to: domain.verifyingContract, data }
}
