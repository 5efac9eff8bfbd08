import type { Address, Hex } from 'viem'
import type { TokenDomain } from '../../core/types.js'

/**
 * The members of the signed message, as `SpendPermissionManager` names them.
 * Times are Unix seconds.
 */
export type SpendPermissionMessage = {
  /** The payer's smart wallet. */
  account: Address
  /** The account that may charge, and that receives the tokens. */
  spender: Address
  /** Address of the token contract. */
  token: Address
  /** Most token units in one period. */
  allowance: bigint
  /** Seconds of one period. */
  period: bigint
  /** First second of the first period. */
  start: bigint
  /** The permission is valid before this second. */
  end: bigint
  /** Makes two otherwise equal permissions different. */
  salt: bigint
  /** Data of the spender; the manager ignores it. */
  extraData: Hex
}

/** A message to sign, with the manager and chain it is meant for. */
export type SpendPermission = {
  primaryType: 'SpendPermission'
  /** The manager's EIP-712 domain. */
  domain: TokenDomain
  message: SpendPermissionMessage
}

/**
 * A permission with the signature of its account. With the spender's key, the
 * signature is enough to charge: never log it.
 */
export type SignedSpendPermission = {
  permission: SpendPermission
  signature: Hex
}

/** One period of a permission. Times are Unix seconds. */
export type SpendPeriod = {
  /** Counts from 1. */
  number: bigint
  /** First second. */
  start: bigint
  /** First second after it. */
  end: bigint
}
