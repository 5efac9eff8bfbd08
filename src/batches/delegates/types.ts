import type { Address, Hex } from 'viem'
import type { DelegateName } from '../../core/knownDelegates.js'

/** A delegate that you trust, known by the hash of its deployed code. */
export type TrustedDelegate = {
  address: Address
  /** Keccak-256 hash of the code at the address. */
  codeHash: Hex
}

/** What an account's code says about it, from {@link getDelegation}. */
export type Delegation =
  /** A plain account: it has no code. */
  | { status: 'none' }
  /** The account is a contract, and not delegated. */
  | { status: 'contract' }
  /**
   * Delegated to code that is not proven. Without a `codeHash`, there is no
   * code, and calls of the account to itself do nothing.
   */
  | { status: 'unknown'; address: Address; codeHash: Hex | undefined }
  /** Delegated to a delegate whose code is proven. */
  | ({ status: 'known' } & ProvenDelegate)

/** A delegate whose code was compared with the expected hash. */
type ProvenDelegate = {
  /** `trusted` for one that you passed in `trusted`. */
  name: DelegateName | 'trusted'
  /** Absent for `trusted`. */
  version: string | undefined
  address: Address
  /** Hash of the code on this chain. */
  codeHash: Hex
  /**
   * Of MetaMask's delegate: the contract that redeems signed delegations. While
   * it is paused it redeems none; the account's own batches still work.
   */
  manager: { address: Address; owner: Address; paused: boolean } | undefined
}

/** What {@link delegateSubmitter} and {@link undelegateSubmitter} did. */
export type DelegationChange = {
  /** The account's delegation after the call. */
  delegation: Delegation
  /** Absent if nothing was sent, because nothing had to change. */
  transactionHash: Hex | undefined
}
