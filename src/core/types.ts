import type { Address, Hex } from 'viem'
import type { RefusalReason } from './revertReason.js'

/**
 * The message a payer signs decides the token function that captures it:
 * `ReceiveWithAuthorization` can be submitted by the recipient only,
 * `TransferWithAuthorization` by anyone who holds the signature (EIP-3009).
 */
export type PrimaryType =
  | 'ReceiveWithAuthorization'
  | 'TransferWithAuthorization'

/** The members of the signed message, as EIP-3009 names them. */
export type PaymentAuthorization = {
  /** The payer. */
  from: Address
  /** The recipient. */
  to: Address
  /** The exact amount in token units. */
  value: bigint
  /** Unix seconds; the token accepts the message strictly after this time. */
  validAfter: bigint
  /** Unix seconds; the token accepts the message strictly before this time. */
  validBefore: bigint
  /** 32 random bytes, used once. */
  nonce: Hex
}

/** The message that makes a nonce unusable (EIP-3009 `CancelAuthorization`). */
export type CancelAuthorization = {
  /** The payer whose nonce is canceled. */
  authorizer: Address
  nonce: Hex
}

/** The EIP-712 domain of a token. */
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
 * A permit (EIP-2612) in the shape of a payment. `to` is the spender, `value`
 * the ceiling, `nonce` the permit nonce, and the deadline is the second before
 * `validBefore`. The permit does not contain `validAfter`.
 */
export type PermitAuthorization = Omit<Payment, 'primaryType'> & {
  primaryType: 'Permit'
}

/**
 * Fields of a payment that its message does not contain, by name. Payments of
 * the kind `eip3009` have none.
 */
export type PaymentTerms = Readonly<Record<string, string>>

/** A payment of any kind. */
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

/** A cancellation with its signature; anyone may submit it. */
export type SignedCancellation = Cancellation & { signature: Hex }

/** Finality of a block, weakest first. */
export type Finality = 'preconfirmed' | 'included' | 'safe' | 'finalized'

/** Why no transaction was sent for a payment. */
export type RejectionReason =
  | RefusalReason
  /** Only the recipient can submit a Receive payment. */
  | 'wrongSubmitter'
  /**
   * The payer's own key did not sign. Only a rehearsal can check other
   * signatures.
   */
  | 'unsimulatedWallet'

/** The block at which a verdict was reached, and the method. */
export type VerifiedAt = {
  /**
   * Block number as contracts see it, so an L1 block on Arbitrum. With `via:
   * 'calls'`, the number in the header.
   */
  block: bigint
  /** Time of that block, Unix seconds. */
  time: bigint
  /** `override`: one request. `calls`: one by one, without state overrides. */
  via: 'override' | 'calls'
  /** Gas of the whole transaction; unknown with `via: 'calls'`. */
  gasUsed?: bigint
}
