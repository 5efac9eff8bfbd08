import type { Address, Client, Hash, Hex } from 'viem'
import {
  authorizationCall,
  authorizationLogs,
  endOfAuthorization,
  type OutcomeKind,
} from '../chain/state/getPaymentOutcome.js'
import type { Call } from '../chain/state/types.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parsePayment } from '../core/fields.js'
import { hashChecked } from '../core/hashPayment.js'
import { type ProofReceipt, proveCapture } from '../core/receiptProof.js'
import type {
  AnyPayment,
  AnySignedPayment,
  Payment,
  PaymentTerms,
  RejectionReason,
  TokenDomain,
} from '../core/types.js'
import { decodePayment } from './message/codec.js'
import { type EncodedCall, encodeCapture } from './message/encodeCall.js'
import { accountsOf, type SigningKind } from './message/kind.js'
import { addTypes } from './message/paymentTypedData.js'

/** The part of a payment kind that sending a capture needs. */
export type CaptureKind = Omit<SigningKind, 'typedData'> &
  Pick<OutcomeKind, 'spentCall'> & {
    /** Returns the hash that the payer signs. */
    hash(payment: AnyPayment): Hex
    /**
     * Encodes the call that captures an amount, given in base units of the token.
     */
    encodeCapture(
      payment: AnySignedPayment,
      amount: bigint,
    ): EncodedCall<unknown>
    /**
     * Builds the call that lets the called contract take the tokens, if that
     * contract makes such a call and ignores its failure. The failure then
     * explains why a capture is refused.
     */
    approvalCall?(payment: AnySignedPayment): Call
  }

/** EIP-3009: the token's own function moves the exact amount. */
export const eip3009Capture: CaptureKind = {
  total: 'amount',
  primaryType: 'ReceiveWithAuthorization',
  expected: { amount: true },
  parse: parsePayment,
  accounts: accountsOf,
  hash: (payment: Payment) => hashChecked(payment),
  encodeCapture,
  spentCall: authorizationCall,
}

/** The fields of a payment as an order stores them. */
export type StoredFields = {
  primaryType: AnyPayment['primaryType']
  domain: TokenDomain
  payer: Address
  recipient: Address
  /** Base units of the token: the exact amount, or the ceiling. */
  value: bigint
  /** Window of the capture in Unix seconds. Both ends are exclusive. */
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
  terms: PaymentTerms | undefined
}

/**
 * The part of a payment kind that orders need, to store and recover payments.
 */
type OrderKind = {
  /**
   * Name of the kind in stored orders, such as `eip3009`. It must never change.
   */
  readonly name: string
  /** Type of the messages that `draft` builds, unless the caller names one. */
  readonly primaryType: AnyPayment['primaryType']
  /**
   * True if each payment has a payment nonce of its own, and the token's events
   * name this nonce. If false, the worker asks the chain about each payment
   * separately, unless `carried` is set.
   */
  readonly hasOwnNonce: boolean
  /**
   * Builds the call that asks whether the payment was captured. Needed only by
   * kinds whose payments can be canceled without an event.
   */
  capturedCall?(payment: AnyPayment): Call
  /** What the token must support: `receiveWithAuthorization`, or permits. */
  readonly token: 'receive' | 'permit'
  /**
   * Decodes a payment of this kind, signed or not, from JSON text or its parsed
   * value.
   *
   * @throws {@link InvalidFieldError} when it is malformed or of another kind.
   */
  decode(json: unknown): AnyPayment
  /**
   * Returns the terms of a new payment. Draws random values for terms that need
   * them.
   */
  drawTerms(given: {
    operator: Address
    /** The payer's next permit nonce, if the token has permits. */
    permitNonce: bigint | undefined
  }): PaymentTerms | undefined
  /**
   * Builds a payment from its fields. Ignores `nonce` if the terms decide the
   * payment nonce.
   *
   * @throws {@link InvalidFieldError} when the terms are malformed.
   */
  build(fields: StoredFields): AnyPayment
}

/**
 * The next transaction that a payment needs, or the reason why none is sent.
 */
export type CarriedCall =
  | { ok: true; call: { to: Address; data: Hex }; gas: bigint }
  | { ok: false; reason: RejectionReason | 'revoked' | 'allowanceUsed' }

/**
 * The part of a payment kind that orders need if its payments have no nonce on
 * the chain. Only the transactions themselves then show which payments were
 * made.
 */
type CarriedKind = {
  /**
   * Simulates a payment or its cancellation, and returns its next transaction.
   * A payment may need several transactions, one after the other.
   */
  rehearse(
    client: Client,
    given: {
      payment: AnySignedPayment
      action: 'capture' | 'cancel'
      /**
       * Loads from the store how many base units of the token were paid by all
       * payments of the same subscription within the window of this payment.
       */
      getKnown(): Promise<bigint>
    },
  ): Promise<CarriedCall>
  /** Finds the transaction that captured or canceled a payment. */
  find(
    client: Client,
    payment: AnyPayment,
    range: {
      /** Unix seconds. The search begins at this time. */
      since: bigint
      /** Last block of the search. */
      toBlock: bigint
    },
  ): Promise<Hash | undefined>
  /**
   * True when a transaction approved the spend permission of a payment, which
   * can then be captured.
   */
  approves(receipt: ProofReceipt, payment: AnyPayment): boolean
  /** Finds out why a transaction of a payment failed. */
  explain(
    client: Client,
    payment: AnyPayment,
    receipt: { transactionHash: Hash; blockNumber: bigint },
  ): Promise<Extract<CarriedCall, { ok: false }>['reason']>
}

/**
 * A kind of payment: the message that the payer signs, the call that captures,
 * the proof of the capture, and the fields that an order stores.
 */
export type PaymentKind = SigningKind &
  CaptureKind &
  OutcomeKind &
  OrderKind & {
    /** Set if payments of this kind leave no nonce on the chain. */
    readonly carried?: CarriedKind | undefined
  }

export function buildAuthorization(fields: StoredFields): Payment {
  const { primaryType, domain, payer, recipient, value } = fields
  const { validAfter, validBefore, nonce } = fields
  const message = {
    from: payer,
    to: recipient,
    value,
    validAfter,
    validBefore,
    nonce,
  }
  if (primaryType !== 'Permit') return { primaryType, domain, message }
  const expected = ['ReceiveWithAuthorization', 'TransferWithAuthorization']
  throw new InvalidFieldError('primaryType', shown(primaryType), expected)
}

/**
 * The kind of exact payments (EIP-3009), which every function uses by default.
 *
 * @example
 * ```ts
 * import { type AnyPayment, eip3009, type PaymentKind } from 'countersign'
 * import { checkout } from 'countersign/checkout'
 *
 * const kindOf = (payment: AnyPayment): PaymentKind =>
 *   'checkout' in payment ? checkout : eip3009
 * ```
 */
export const eip3009: PaymentKind = {
  total: 'amount',
  primaryType: 'ReceiveWithAuthorization',
  expected: { amount: true },
  parse: parsePayment,
  accounts: accountsOf,
  typedData: (payment: Payment) => addTypes(payment),
  hash: (payment: Payment) => hashChecked(payment),
  encodeCapture,
  spentCall: authorizationCall,
  spentLogs: authorizationLogs,
  prove: proveCapture,
  end: endOfAuthorization,
  name: 'eip3009',
  hasOwnNonce: true,
  token: 'receive',
  decode: decodePayment,
  drawTerms: () => undefined,
  build: buildAuthorization,
}
