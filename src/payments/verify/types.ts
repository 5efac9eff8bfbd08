import type { Address, Hex } from 'viem'
import type { RunHead } from '../../chain/state/types.js'
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
 * What the merchant expects. Take it from the order, never from the request.
 */
export type PaymentExpectation = {
  /** Address of the token contract. */
  token: Address
  /** The recipient. */
  to: Address
  /** A decimal such as `'12.50'`, in whole tokens. */
  amount: string
  /** @default 'ReceiveWithAuthorization' */
  primaryType?: PrimaryType | undefined
  /** @default the chain of the client, or else that of the node */
  chainId?: number | undefined
  /** The payer, if the order has a fixed one. */
  from?: Address | undefined
  /** The nonce, if the order has one. */
  nonce?: Hex | undefined
  /** Longest accepted window: seconds from `validAfter` to `validBefore`. */
  maxWindow?: bigint | undefined
  /** Least seconds left until `validBefore`. */
  minRemaining?: bigint | undefined
}

/** What the merchant expects of a payment whose amount is known at capture. */
export type CeilingExpectation = Omit<
  PaymentExpectation,
  'amount' | 'primaryType'
> & {
  /** The most that can be captured, such as `'50.00'`, in whole tokens. */
  atMost: string
  /** The only account that can capture. @default the recipient */
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
      /** The token's error text, if any. */
      words?: string
    }

/** Whether a payment can be captured, as of one block. */
export type PaymentVerdict =
  | { ok: true; at: VerifiedAt }
  | {
      ok: false
      reason: RefusalReason
      /**
       * Facts for a log line: found and expected value, or the token's error
       * text.
       */
      details: Readonly<Record<string, unknown>>
      /** Absent if the message alone decided, so that no block was read. */
      at?: VerifiedAt
    }

/** Why the message alone refuses a payment, with facts for a log line. */
export type MessageRefusal = {
  reason: RefusalReason
  details: Readonly<Record<string, unknown>>
}

/** A call to rehearse, and what its result is compared with. */
export type RehearsedCall = {
  domain: TokenDomain
  encoded: EncodedCall<unknown>
  /** The hash that the payer signed. */
  hash(): Hex
  payer: Address
  nonce: Hex
  /** The only account that can send the call; absent if anyone can. */
  operator: Address | undefined
  /** True if the call is to a checkout contract, which returns a word. */
  returnsWord: boolean
  /** The signature as the payer gave it: possibly wrapped (ERC-6492). */
  signature: Hex
  /** The transfer that must happen; absent for a cancellation. */
  transfer?: PaymentAuthorization | undefined
}

/** Gas that follows from a transaction's data alone. */
export type FixedGas = {
  /** Gas spent before the first instruction. */
  intrinsic: number
  /** The smallest valid gas limit. */
  least: number
}

/** Facts that are read with the call, to explain a refusal. */
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
