import type { Address, Hex } from 'viem'

/**
 * A key that can capture payments to another account, the treasury, and nothing
 * else.
 */
export type CaptureKey = {
  chainId: number
  /** The account that receives the payments. It signed the permission. */
  treasury: Address
  /** The account that may capture, and pays the gas. */
  key: Address
  /** The only contracts that the key may call in the name of the treasury. */
  tokens: readonly Address[]
  /** Unix seconds from which the permission no longer works, if it ends. */
  validBefore: bigint | undefined
  /** Hash by which the `DelegationManager` knows the permission. */
  hash: Hex
  /**
   * The signed delegation, ABI-encoded as the permission context of ERC-7715.
   * Nobody but the key can use it.
   */
  permission: Hex
}

/**
 * Whether a capture key can capture now:
 *
 * - `active`: it can
 * - `expired`: the time of the permission is over
 * - `revoked`: the treasury has ended the permission, or all of them
 * - `paused`: the owner of the `DelegationManager` has paused it. The treasury
 *   itself can still capture and revoke
 * - `undelegated`: the treasury is not delegated to MetaMask's delegate
 * - `unproven`: a contract on which the permission relies has other code
 */
export type CaptureKeyStatus =
  | 'active'
  | 'expired'
  | 'revoked'
  | 'paused'
  | 'undelegated'
  | 'unproven'
