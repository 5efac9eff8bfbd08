import type { Address, Client, Hex } from 'viem'
import type { BlockSelector } from '../rpc/requestNode.js'

/**
 * A call that `runCalls` simulates. Without data and gas, it only asks whether
 * the target has code.
 */
export type Call = {
  target: Address
  data: string
  gas: number
  /**
   * The call that the target itself makes to an untrusted contract, such as the
   * payer's wallet. Used only if the gas of the whole call cannot be measured.
   */
  question?: (() => Pick<Call, 'target' | 'data'>) | undefined
}

export type CallAnswer = {
  ok: boolean
  /** Data that the call returned, or with which it reverted. */
  data: Hex
  /** True if the target of the call is a contract. */
  hasCode: boolean
  /** Gas that the call used; absent if calls were sent one by one. */
  gasUsed?: bigint
  /** The node's error text if the call failed. */
  words?: string
}

/** Fee fields of a transaction, in wei per gas. */
export type CallFees = {
  maxFeePerGas?: bigint | undefined
  maxPriorityFeePerGas?: bigint | undefined
  gasPrice?: bigint | undefined
}

/** From whom, at which block and with which fees a call is simulated. */
export type AskedAt = { from: Address; at: string; fees?: CallFees | undefined }

/** Runs the same calls on a node without state overrides. */
type Fallback = (
  client: Client,
  parameters: RunCallsParameters<string>,
) => Promise<RawAnswers>

export type RunCallsParameters<names extends string> = {
  /** The account that makes the calls. */
  from: Address
  /** The sender of the transaction that contains the calls. @default `from` */
  origin?: Address | undefined
  /**
   * Calls that run one after another, each on the effects of the one before.
   * All effects are then undone. `fallback` runs only the first, because
   * separate requests do not see its effects.
   */
  steps?: readonly Call[] | undefined
  /** Calls that run on the state before `steps`. */
  calls: Readonly<Record<names, Call>>
  block: BlockSelector
  /**
   * Fees of the transaction that runs the `steps`.
   * @default a price above the base fee
   */
  fees?: CallFees | undefined
  /** Runs the calls on a node without state overrides. */
  fallback: Fallback
  /**
   * True to send calls one by one. Needed if the calls use the code of `from`,
   * which the executor contract would replace.
   */
  plain?: boolean | undefined
}

/** The block at which calls were simulated, and how. */
export type RunHead = {
  number: bigint
  /** Unix seconds. */
  timestamp: bigint
  chainId: number
  /**
   * `override`: in one request, by a contract put at `from` with a state
   * override. `calls`: without state overrides.
   */
  via: 'override' | 'calls'
}

export type RunAnswers<names extends string> = {
  head: RunHead
  steps: readonly CallAnswer[]
  calls: Readonly<Record<names, CallAnswer>>
}

/**
 * Like {@link RunAnswers}, but a list in the order of the calls instead of an
 * object by name.
 */
export type RawAnswers = {
  head: RunHead
  steps: readonly CallAnswer[]
  calls: readonly CallAnswer[]
}

/**
 * The functions that a token has. They are found by calls, because the code
 * behind a proxy cannot be searched.
 */
export type TokenCapabilities = {
  /** True if the token has `receiveWithAuthorization` (Circle since v2.1). */
  receive: boolean
  /** True if the token has `transferWithAuthorization`. */
  transfer: boolean
  /** True if the token has `cancelAuthorization`. */
  cancel: boolean
  /**
   * True if the token takes signatures as `bytes`, so that contract wallets can
   * pay (ERC-7598).
   */
  bytes: boolean
  /** True if the token can be paused. */
  pause: boolean
  /** True if the token can block accounts. */
  blockList: boolean
  /** `authorizationState` returns the enum of Circle v2.0 and not a boolean. */
  stateEnum: boolean
}
