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
  /** Most token units that may be charged in one period. */
  allowance: bigint
  /** Seconds of one period. */
  period: bigint
  /** First second of the first period. */
  start: bigint
  /** The permission is no longer valid from this second on. */
  end: bigint
  /** Makes two permissions with otherwise equal members different. */
  salt: bigint
  /** Any data of the spender. The manager does not read it. */
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
 * A permission with the signature of its account. Never log it: whoever has the
 * spender's key needs only this signature to charge.
 */
export type SignedSpendPermission = {
  permission: SpendPermission
  signature: Hex
}

/** One period of a permission. Times are Unix seconds. */
export type SpendPeriod = {
  /** Number of the period; the first is 1. */
  number: bigint
  /** First second of the period. */
  start: bigint
  /** First second after the period. */
  end: bigint
}
