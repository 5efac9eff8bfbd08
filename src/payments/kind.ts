import type { Address, Client, Hash, Hex } from 'viem'
import {
  authorizationCall,
  eip3009Outcome,
  type OutcomeKind,
} from '../chain/state/getPaymentOutcome.js'
import type { Call } from '../chain/state/types.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parsePayment } from '../core/fields.js'
import { hashChecked } from '../core/hashPayment.js'
import type { ProofReceipt } from '../core/receiptProof.js'
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
import { accountsOf, eip3009Signing, type SigningKind } from './message/kind.js'

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
    /** Set if the payer signs a permit (EIP-2612) of the token. */
    readonly permit?: PermitCalls | undefined
  }

/** Calls that kinds of permits need. */
type PermitCalls = {
  /**
   * Builds the call of `permit` that the contract makes, ignoring its failure.
   * The failure then explains why a capture is refused.
   */
  approvalCall(payment: AnySignedPayment): Call
  /**
   * Builds the call that asks whether the payment was captured. Needed because
   * the payer can end a permit without an event.
   */
  capturedCall(payment: AnyPayment): Call
}

/** EIP-3009: the token's own function moves the exact amount. */
export const eip3009Capture: CaptureKind = {
  total: 'amount',
  primaryType: 'ReceiveWithAuthorization',
  parse: parsePayment,
  accounts: accountsOf,
  hash: (payment: Payment) => hashChecked(payment),
  encodeCapture,
  spentCall: authorizationCall,
}

/** The fields of a payment as an order stores them. */
export type StoredFields = {
  /** Absent if the payer signs no message for each payment. */
  primaryType: AnyPayment['primaryType'] | undefined
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

/** The part that all kinds of payment have: storing and proving. */
type StoredKind = Pick<SigningKind, 'accounts'> &
  Pick<OutcomeKind, 'prove' | 'end'> & {
    /**
     * Name of the kind in stored orders, such as `eip3009`. It must never
     * change.
     */
    readonly name: string
    /**
     * Builds a payment from its fields. Ignores `nonce` if the terms decide the
     * payment nonce.
     *
     * @throws {@link InvalidFieldError} when the terms are malformed.
     */
    build(fields: StoredFields): AnyPayment
  }

/** The part of a kind that drafts payments for a payer to sign. */
type DraftedKind = {
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
}

/**
 * The next transaction that a payment needs, or the reason why none is sent.
 */
export type SettlingCall =
  | {
      ok: true
      call: { to: Address; data: Hex }
      gas: bigint
      /** Parts of the payment that the transaction leaves out, and why. */
      leftOut?: readonly LeftOut[] | undefined
    }
  | {
      ok: false
      reason:
        | RejectionReason
        | 'revoked'
        | 'allowanceUsed'
        | 'nothingToClaim'
        | 'channelWithdrawn'
        | 'unclaimedCharges'
    }

/** A channel that a claim leaves out, because it would make all others fail. */
export type LeftOut = {
  channelId: Hex
  reason: Extract<SettlingCall, { ok: false }>['reason']
}

/**
 * How payments without a nonce on the chain are made. Only the transactions
 * themselves show which of these payments were made.
 */
export type Settling = {
  /**
   * Simulates a payment or its cancellation, and returns its next transaction.
   * A payment may need several transactions, one after the other.
   */
  rehearse(
    client: Client,
    given: {
      payment: AnySignedPayment
      action: 'capture' | 'cancel'
      /** The account that will send the transaction. */
      account: Address
      /**
       * Loads from the store how many base units of the token were paid by all
       * payments of the same subscription within the window of this payment.
       */
      getKnown(): Promise<bigint>
    },
  ): Promise<SettlingCall>
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
  ): Promise<Extract<SettlingCall, { ok: false }>['reason']>
}

/**
 * A kind of payment that payers sign: the message, the call that captures, the
 * proof of the capture, and the fields that an order stores.
 */
export type PaymentKind = StoredKind &
  SigningKind &
  CaptureKind &
  OutcomeKind &
  DraftedKind & { readonly settling?: undefined }

/** A kind whose payments are not signed one by one, such as charges. */
export type SettlingKind = StoredKind & {
  readonly settling: Settling
  readonly permit?: undefined
}

/** Any kind of payment. A kind with `settling` is a {@link SettlingKind}. */
export type AnyKind = PaymentKind | SettlingKind

export function buildAuthorization(fields: StoredFields): Payment {
  const { primaryType = eip3009Signing.primaryType } = fields
  const { domain, payer, recipient, value } = fields
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
export const eip3009: PaymentKind = /* @__PURE__ */ Object.assign(
  {
    name: 'eip3009',
    decode: decodePayment,
    drawTerms: () => undefined,
    build: buildAuthorization,
  },
  eip3009Signing,
  eip3009Capture,
  eip3009Outcome,
)
