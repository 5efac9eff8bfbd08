import type { Address, Hex } from 'viem'
import type { OrderReason } from '../../store/types.js'
import type { SettledCapture } from './settledTypes.js'

/** Why the merchant refunds, in Stripe's words. */
export type RefundReason = 'duplicate' | 'fraudulent' | 'requestedByCustomer'

/**
 * How far a refund is.
 *
 * - `requested`: waits until the capture is final and earlier refunds of the
 *   payment are over, or for the signature of a recipient without a wallet.
 * - `sending`: signed, and sent or about to be.
 * - `succeeded`: the chain shows the transfer. See `transfer.finality`.
 * - `failed`: it did not happen so far; `failure` says why. A signed one can
 *   still succeed until `reserved` is `false`.
 * - `canceled`: the recipient's account canceled it on chain.
 */
export type RefundState =
  | 'requested'
  | 'sending'
  | 'succeeded'
  | 'failed'
  | 'canceled'

/**
 * Why a refund did not happen. Here the payer is the account that is paid back,
 * as in the order: `payerBlocked` means that the token blocks the buyer.
 */
export type RefundFailure =
  | OrderReason
  /** Other refunds of the payment took the amount. */
  | 'exceedsCaptured'

/** A refund, without credentials. */
export type Refund = {
  /** The id that you gave it, unique in the order. */
  refundId: string
  orderId: string
  state: RefundState
  failure: RefundFailure | undefined
  /** Decimal amount in whole tokens. */
  amount: string
  /** Token units. */
  value: bigint
  /** The account that paid the order, and is paid back. */
  to: Address
  reason: RefundReason | undefined
  /** True while the amount is paid, or may still be paid by this refund. */
  reserved: boolean
  /** Payment nonce. Absent before there is something to sign. */
  nonce: Hex | undefined
  /** Unix seconds from which the signature is no longer valid. */
  validBefore: bigint | undefined
  /** What the chain shows about the transfer. */
  transfer: SettledCapture | undefined
}

/** Why a refund is not accepted. */
export type RefundRefusal =
  /** The chain does not show a payment of the order. */
  | 'notCaptured'
  /** The order was paid by a permit: pay the buyer back by a transfer. */
  | 'unsupportedToken'
  /** More than is left of the payment after its other refunds. */
  | 'exceedsCaptured'
  /** The id belongs to a refund of another amount. */
  | 'refundConflict'
