import type { Address, Hex } from 'viem'
import type { Call, CallAnswer, RunHead } from '../../chain/state/types.js'
import type { MembersOf } from '../../core/checkMembers.js'
import type { RefusalReason } from '../../core/revertReason.js'
import type {
  PaymentAuthorization,
  PrimaryType,
  TokenDomain,
  VerifiedAt,
} from '../../core/types.js'
import type { EncodedCall } from '../message/encodeCall.js'

/**
 * What the merchant expects of a payment. Take it from the stored order, never
 * from the buyer's request.
 */
export type PaymentExpectation = {
  /** Address of the token contract. */
  token: Address
  /** Account that must be paid. */
  to: Address
  /** A decimal such as `'12.50'`, in whole tokens. */
  amount: string
  /**
   * Type of the signed message.
   * @default 'ReceiveWithAuthorization'
   */
  primaryType?: PrimaryType | undefined
  /**
   * Chain on which the payment must be.
   * @default the chain of the client, or else that of the node
   */
  chainId?: number | undefined
  /** Account that must pay. Without it, anyone may. */
  from?: Address | undefined
  /**
   * EIP-3009 nonce that the payment must have, if you chose it when you drafted
   * the payment. Without it, any nonce is accepted.
   */
  nonce?: Hex | undefined
  /** Longest accepted window: seconds from `validAfter` to `validBefore`. */
  maxWindow?: bigint | undefined
  /** Least number of seconds that must be left until `validBefore`. */
  minRemaining?: bigint | undefined
}

/**
 * What the merchant expects of a payment with a ceiling, whose amount is
 * decided at the capture.
 */
export type CeilingExpectation = Omit<
  PaymentExpectation,
  'amount' | 'primaryType'
> & {
  /**
   * The largest amount that can be captured, such as `'50.00'`, in whole
   * tokens.
   */
  atMost: string
  /**
   * The only account that can capture the payment.
   * @default the recipient
   */
  operator?: Address | undefined
}

export const expectationMembers: MembersOf<Omit<PaymentExpectation, 'amount'>> =
  {
    token: true,
    to: true,
    primaryType: true,
    chainId: true,
    from: true,
    nonce: true,
    maxWindow: true,
    minRemaining: true,
  }

export type Rehearsal =
  | { ok: true; head: RunHead; at: VerifiedAt; decimals: number }
  | {
      ok: false
      head: RunHead
      at: VerifiedAt
      reason: RefusalReason
      /** The token's error text; absent if it gave none. */
      words?: string
    }

/** Whether a payment can be captured, as of one block. */
export type PaymentVerdict =
  | { ok: true; at: VerifiedAt }
  | {
      ok: false
      reason: RefusalReason
      /**
       * Facts for a log line: the value found and the one expected, or the
       * token's error text.
       */
      details: Readonly<Record<string, unknown>>
      /**
       * The block of the simulation. Absent if the message alone decided,
       * without asking a node.
       */
      at?: VerifiedAt
    }

/**
 * Reason to refuse a payment by its message alone, with facts for a log line.
 */
export type MessageRefusal = {
  reason: RefusalReason
  details: Readonly<Record<string, unknown>>
}

/** A call to simulate, and what its result is compared with. */
export type RehearsedCall = {
  domain: TokenDomain
  encoded: EncodedCall<unknown>
  /** The hash that the payer signed. */
  hash(): Hex
  payer: Address
  /** The call that asks whether the payment nonce is used. */
  spentCall: Call
  /** See {@link CaptureKind}. */
  approvalCall?: Call | undefined
  /** The only account that can send the call; absent if anyone can. */
  operator: Address | undefined
  /** True if the call is to a checkout contract, which returns a word. */
  returnsWord: boolean
  /**
   * The signature as the payer gave it. It may still have the ERC-6492 wrapper.
   */
  signature: Hex
  /** The transfer that the call must cause; absent for a cancellation. */
  transfer?: PaymentAuthorization | undefined
}

/** Gas of a transaction that follows from its data alone. */
export type FixedGas = {
  /** Gas that is spent before the first instruction. */
  intrinsic: number
  /** The smallest valid gas limit. */
  least: number
}

/**
 * Names of the facts that are read in the same request, to explain a refusal.
 */
export type FactName =
  | 'token'
  | 'payer'
  | 'consumed'
  | 'balance'
  | 'decimals'
  | 'separator'
  | 'eip712Domain'
  | 'payerBlacklisted'
  | 'payerFrozen'
  | 'recipientBlacklisted'
  | 'recipientFrozen'
  | 'bytes'

/**
 * The answers about these facts. `approval` is present only if the call has an
 * `approvalCall`.
 */
export type Facts = Readonly<Record<FactName, CallAnswer>> & {
  readonly approval?: CallAnswer | undefined
}
