import { type Address, type Hex, hashTypedData } from 'viem'
import { parseSpendPermission } from './parseSpendPermission.js'
import type { SpendPermission } from './types.js'

/** The EIP-712 type of a spend permission. */
export const spendPermissionTypes = {
  SpendPermission: [
    { name: 'account', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'allowance', type: 'uint160' },
    { name: 'period', type: 'uint48' },
    { name: 'start', type: 'uint48' },
    { name: 'end', type: 'uint48' },
    { name: 'salt', type: 'uint256' },
    { name: 'extraData', type: 'bytes' },
  ],
} as const

/** The message in viem's types, where integers of up to 48 bits are numbers. */
type SpendPermissionStruct = {
  account: Address
  spender: Address
  token: Address
  allowance: bigint
  period: number
  start: number
  end: number
  salt: bigint
  extraData: Hex
}

/** Typed data to pass to a wallet's `signTypedData`. */
export type SpendPermissionTypedData = {
  domain: SpendPermission['domain']
  types: typeof spendPermissionTypes
  primaryType: 'SpendPermission'
  message: SpendPermissionStruct
}

/**
 * The typed data of a permission, for a wallet's `signTypedData`.
 *
 * @throws {@link InvalidFieldError} when the permission is malformed.
 *
 * @example
 * ```ts
 * import { type SpendPermission, spendPermissionTypedData } from 'countersign/subscriptions'
 *
 * export const request = (permission: SpendPermission) =>
 *   spendPermissionTypedData(permission)
 * ```
 */
export function spendPermissionTypedData(
  permission: SpendPermission,
): SpendPermissionTypedData {
  const { domain, primaryType, message } = parseSpendPermission(permission)
  return {
    domain,
    types: spendPermissionTypes,
    primaryType,
    message: toStruct(message),
  }
}

/**
 * Hashes a permission as its account signs it (EIP-712). The manager's
 * `getHash` returns the same.
 *
 * @throws {@link InvalidFieldError} when the permission is malformed.
 *
 * @example
 * ```ts
 * import { hashSpendPermission, type SpendPermission } from 'countersign/subscriptions'
 *
 * export const idOf = (permission: SpendPermission) =>
 *   hashSpendPermission(permission)
 * ```
 */
export function hashSpendPermission(permission: SpendPermission): Hex {
  return hashTypedData(spendPermissionTypedData(permission))
}

/**
 * Converts the message to viem's types, where integers of up to 48 bits are
 * numbers.
 */
export function toStruct(
  message: SpendPermission['message'],
): SpendPermissionStruct {
  return {
    ...message,
    period: Number(message.period),
    start: Number(message.start),
    end: Number(message.end),
  }
}
