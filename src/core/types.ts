import type { Address, Hex } from 'viem'
import type { RefusalReason } from './revertReason.js'

/**
 * Type of the signed message. It decides which function of the token captures
 * the payment: `ReceiveWithAuthorization` can be submitted only by the
 * recipient, `TransferWithAuthorization` by anyone who has the signature
 * (EIP-3009).
 */
export type PrimaryType =
  | 'ReceiveWithAuthorization'
  | 'TransferWithAuthorization'

/** The members of the signed message, as EIP-3009 names them. */
export type PaymentAuthorization = {
  /** Account that pays. */
  from: Address
  /** Account that is paid. */
  to: Address
  /** The exact amount in base units of the token. */
  value: bigint
  /** Unix seconds; the token accepts the message strictly after this time. */
  validAfter: bigint
  /** Unix seconds; the token accepts the message strictly before this time. */
  validBefore: bigint
  /**
   * Payment nonce: 32 random bytes. The token accepts each once for each payer.
   */
  nonce: Hex
}

/**
 * The message with which a payer cancels a payment nonce (EIP-3009
 * `CancelAuthorization`).
 */
export type CancelAuthorization = {
  /** The payer, whose nonce is canceled. */
  authorizer: Address
  nonce: Hex
}

/** The EIP-712 domain that binds signatures to one token and chain. */
export type TokenDomain = {
  name: string
  version: string
  chainId: number
  verifyingContract: Address
}

/** A message to sign, with the token and chain it is meant for. */
export type Payment = {
  primaryType: PrimaryType
  domain: TokenDomain
  message: PaymentAuthorization
}

/**
 * A permit (EIP-2612) in the form of a payment: `to` is the spender, `value`
 * the ceiling, `nonce` the permit nonce, and the permit's deadline is one
 * second before `validBefore`. The signed permit does not contain `validAfter`.
 */
export type PermitAuthorization = Omit<Payment, 'primaryType'> & {
  primaryType: 'Permit'
}

/**
 * Facts of a payment that its signed message does not contain, by name.
 * EIP-3009 payments have none.
 */
export type PaymentTerms = Readonly<Record<string, string>>

/** A payment of any kind: EIP-3009, or a permit (EIP-2612). */
export type AnyPayment = Payment | PermitAuthorization

/**
 * A payment with its signature. The signature is a credential: never log it.
 */
export type SignedPayment = Payment & { signature: Hex }

/** A payment of any kind with its signature. Never log it. */
export type AnySignedPayment = AnyPayment & { signature: Hex }

/** A cancellation to sign, with the token and chain it is meant for. */
export type Cancellation = {
  primaryType: 'CancelAuthorization'
  domain: TokenDomain
  message: CancelAuthorization
}

/**
 * A cancellation with its signature. Anyone may submit it: it moves no money.
 */
export type SignedCancellation = Cancellation & { signature: Hex }

/** Finality of a block, weakest first. */
export type Finality = 'preconfirmed' | 'included' | 'safe' | 'finalized'

/** Why a payment was refused before a transaction was sent. */
export type RejectionReason =
  | RefusalReason
  /**
   * The message is a `ReceiveWithAuthorization`, and the account that would
   * submit it is not the recipient.
   */
  | 'wrongSubmitter'
  /**
   * The signature was not made by the payer's own key. A smart wallet may have
   * made it, but this check did not simulate the call to the wallet.
   */
  | 'unsimulatedWallet'

/** The block at which a payment was checked, and how. */
export type VerifiedAt = {
  /**
   * Block number as contracts see it; on Arbitrum, that of an L1 block. With
   * `via: 'calls'`, the number in the block header.
   */
  block: bigint
  /** Time of the block in Unix seconds. */
  time: bigint
  /**
   * How the check asked the node. `override`: in one request, with a state
   * override. `calls`: call by call, because the node has no state overrides.
   */
  via: 'override' | 'calls'
  /**
   * Gas that the whole transaction would use. Absent with `via: 'calls'`, which
   * cannot measure it.
   */
  gasUsed?: bigint
}
