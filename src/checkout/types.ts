import type { Address, Hex } from 'viem'
import type { Payment, PermitAuthorization } from '../core/types.js'

/** Recipient, operator and salt of a checkout payment. */
export type CheckoutTerms = {
  /** The account that is paid. The message names the checkout contract. */
  recipient: Address
  /** The only account that can capture. */
  operator: Address
  /** 32 random bytes. The nonce of the message is the hash of all terms. */
  salt: Hex
}

/**
 * A payment of at most `message.value`: the merchant names the amount at
 * capture. The payer signs the message, whose nonce is the hash of the terms.
 */
export type CheckoutPayment = Payment & { checkout: CheckoutTerms }

/**
 * A checkout payment with its signature. The signature is a credential: never
 * log it.
 */
export type SignedCheckoutPayment = CheckoutPayment & { signature: Hex }

/** The accounts of a permit checkout contract. Its address depends on both. */
export type PermitTerms = {
  /** The account that is paid. The message names the contract as `to`. */
  recipient: Address
  /** The only account that can capture. */
  operator: Address
}

/**
 * A payment of at most `message.value` with a token that has permits only. The
 * payer signs a permit to the contract `message.to`.
 */
export type PermitPayment = PermitAuthorization & { checkout: PermitTerms }

/**
 * A permit payment with its signature. The signature is a credential: never log
 * it.
 */
export type SignedPermitPayment = PermitPayment & { signature: Hex }
