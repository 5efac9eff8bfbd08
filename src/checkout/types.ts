import type { Address, Hex } from 'viem'
import type { Payment, PermitAuthorization } from '../core/types.js'

/**
 * What a checkout payment adds to the signed message, which contains only the
 * hash of these terms.
 */
export type CheckoutTerms = {
  /**
   * The account that is paid in the end. The message itself pays the checkout
   * contract.
   */
  recipient: Address
  /** The only account that can capture the payment. */
  operator: Address
  /**
   * 32 random bytes, which make each payment's nonce different: the nonce is
   * the hash of chain id, contract and terms.
   */
  salt: Hex
}

/**
 * A payment of at most `message.value`. The operator names the amount at the
 * capture. The nonce of the signed message is the hash of the terms.
 */
export type CheckoutPayment = Payment & { checkout: CheckoutTerms }

/**
 * A checkout payment with its signature. The signature is a credential: never
 * log it.
 */
export type SignedCheckoutPayment = CheckoutPayment & { signature: Hex }

/** The two accounts of a permit checkout contract, which decide its address. */
export type PermitTerms = {
  /**
   * The account that is paid in the end. `to` of the message is the contract.
   */
  recipient: Address
  /** The only account that can capture the payment. */
  operator: Address
}

/**
 * A payment of at most `message.value` in a token that has permits (EIP-2612)
 * but no EIP-3009. The payer signs a permit whose spender is the checkout
 * contract, `message.to`.
 */
export type PermitPayment = PermitAuthorization & { checkout: PermitTerms }

/**
 * A permit payment with its signature. The signature is a credential: never log
 * it.
 */
export type SignedPermitPayment = PermitPayment & { signature: Hex }
