import type { Address, Hex } from 'viem'
import type { OrderReason } from '../../store/types.js'
import type { SettledCapture } from './settledTypes.js'

/** Why the merchant refunds; the values mean the same as Stripe's reasons. */
export type RefundReason = 'duplicate' | 'fraudulent' | 'requestedByCustomer'

/**
 * State of a refund.
 * - `requested`: waits until the capture is final and earlier refunds of the
 *   payment are over, or for the signature of a recipient without a wallet.
 * - `sending`: signed, and sent or about to be sent.
 * - `succeeded`: the chain shows the transfer. See `transfer.finality`.
 * - `failed`: it has not happened so far; `failure` says why. If it was signed,
 *   it can still succeed until `reserved` is `false`.
 * - `canceled`: the recipient's account canceled it on chain.
 */
export type RefundState =
  | 'requested'
  | 'sending'
  | 'succeeded'
  | 'failed'
  | 'canceled'

/**
 * Why a refund did not happen. In these reasons, the payer is the payer of the
 * order, who gets the refund: `payerBlocked` means that the token blocks the
 * buyer.
 */
export type RefundFailure =
  | OrderReason
  /** Other refunds of the payment have used up the amount. */
  | 'exceedsCaptured'

/** A refund as the merchant sees it, without its signature. */
export type Refund = {
  /** Your id of the refund, unique in the order. */
  refundId: string
  orderId: string
  state: RefundState
  failure: RefundFailure | undefined
  /** Decimal amount in whole tokens. */
  amount: string
  /** `amount` in token units. */
  value: bigint
  /** The account that paid the order, and gets the refund. */
  to: Address
  reason: RefundReason | undefined
  /**
   * True while this refund was paid or may still be paid, so that its amount
   * cannot be refunded again.
   */
  reserved: boolean
  /** Payment nonce of the refund. Absent before there is a payment to sign. */
  nonce: Hex | undefined
  /** Unix seconds from which the signature of the refund is no longer valid. */
  validBefore: bigint | undefined
  /** The transfer of the refund, if the chain shows it. */
  transfer: SettledCapture | undefined
}

/** Why `refund` does not accept a request. */
export type RefundRefusal =
  /** The chain does not show a payment of the order that could be refunded. */
  | 'notCaptured'
  /**
   * The order was paid by a permit, which `refund` does not support: send the
   * buyer a transfer instead.
   */
  | 'unsupportedToken'
  /** The amount exceeds what can still be refunded of the payment. */
  | 'exceedsCaptured'
  /** A refund with this id exists, with another amount. */
  | 'refundConflict'
