import type { Address, Hex } from 'viem'
import type { RunHead } from '../../chain/state/types.js'
import type { MembersOf } from '../../core/checkMembers.js'
import type { RefusalReason } from '../../core/revertReason.js'
import type {
  Cancellation,
  JudgedAt,
  Payment,
  PaymentAuthorization,
  PrimaryType,
  TokenDomain,
} from '../../core/types.js'
import type { EncodedCall } from '../message/encodeCall.js'

/** What the merchant expects, from the order and never from the request. */
export type PaymentExpectation = {
  /** Address of the token contract. */
  token: Address
  /** The recipient. */
  to: Address
  /** A decimal such as `'12.50'`, in whole tokens. */
  amount: string
  /** @default 'ReceiveWithAuthorization' */
  primaryType?: PrimaryType | undefined
  /** @default the chain of the client, else the one the node is on */
  chainId?: number | undefined
  /** The payer, where the order fixed one. */
  from?: Address | undefined
  /** The nonce, where the order drew it. */
  nonce?: Hex | undefined
  /** Longest accepted window, seconds from `validAfter` to `validBefore`. */
  maxWindow?: bigint | undefined
  /** Seconds that must be left to capture. */
  minRemaining?: bigint | undefined
}

export const expectationMembers: MembersOf<PaymentExpectation> = {
  token: true,
  to: true,
  amount: true,
  primaryType: true,
  chainId: true,
  from: true,
  nonce: true,
  maxWindow: true,
  minRemaining: true,
}

/** What a rehearsal showed. */
export type Rehearsal =
  | { ok: true; head: RunHead; at: JudgedAt; decimals: number }
  | {
      ok: false
      head: RunHead
      at: JudgedAt
      reason: RefusalReason
      /** The token's own words, where it had any. */
      words?: string
    }

/** Whether a payment could be captured, judged at one block. */
export type PaymentVerdict =
  | { ok: true; at: JudgedAt }
  | {
      ok: false
      reason: RefusalReason
      /** Facts for a log line: what was found, what was expected, the token's words. */
      details: Readonly<Record<string, unknown>>
      /** Absent where the message alone decided. */
      at?: JudgedAt
    }

/** A reason with its facts. */
export type MessageRefusal = {
  reason: RefusalReason
  details: Readonly<Record<string, unknown>>
}

/** What is rehearsed: a call to a token and the facts to judge it by. */
export type RehearsedCall = {
  domain: TokenDomain
  encoded: EncodedCall<Payment | Cancellation>
  payer: Address
  nonce: Hex
  /** As the payer gave it, wrapped or not. */
  signature: Hex
  /** What must have moved; a cancellation moves nothing. */
  transfer?: PaymentAuthorization | undefined
}

/** Gas that follows from a transaction's data alone. */
export type FixedGas = {
  /** Spent before its first step. */
  intrinsic: number
  /** The least it must be given, whatever its steps spend. */
  least: number
}

/** What is asked beside the call itself, to explain a refusal. */
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
