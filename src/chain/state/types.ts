import type { Address, Client, Hex } from 'viem'
import type { BlockSelector } from '../rpc/requestNode.js'

/**
 * A call that `runCalls` makes. Without data and gas, it only asks whether the
 * target has code.
 */
export type Call = {
  target: Address
  data: string
  gas: number
  /**
   * The call that the target makes to an untrusted contract, such as the
   * payer's wallet. Only used if the gas of the whole call cannot be measured.
   */
  question?: (() => Pick<Call, 'target' | 'data'>) | undefined
}

export type CallAnswer = {
  ok: boolean
  /** Return data or revert data. */
  data: Hex
  /** Whether the target has code. */
  hasCode: boolean
  /** Gas of the call alone; unknown if calls were sent one by one. */
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

/** Caller, block and fees of a call. */
export type AskedAt = { from: Address; at: string; fees?: CallFees | undefined }

/** Runs the same calls without state overrides. */
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
   * Calls that run one after another, each on the effects of the one before,
   * and are then undone. `fallback` runs only the first, because separate calls
   * do not see its effects.
   */
  steps?: readonly Call[] | undefined
  /** Calls that run on the state before the steps. */
  calls: Readonly<Record<names, Call>>
  block: BlockSelector
  /** Fees of the steps. @default a price above the base fee */
  fees?: CallFees | undefined
  /** For nodes without state overrides. */
  fallback: Fallback
  /**
   * True to send calls one by one: for a `from` whose own code the calls need,
   * which the executor would replace.
   */
  plain?: boolean | undefined
}

/** The block at which calls were run, and how they were run. */
export type RunHead = {
  number: bigint
  /** Unix seconds. */
  timestamp: bigint
  chainId: number
  /** `override`: by the executor. `calls`: without state overrides. */
  via: 'override' | 'calls'
}

export type RunAnswers<names extends string> = {
  head: RunHead
  steps: readonly CallAnswer[]
  calls: Readonly<Record<names, CallAnswer>>
}

/** Like {@link RunAnswers}, but lists the calls in their given order. */
export type RawAnswers = {
  head: RunHead
  steps: readonly CallAnswer[]
  calls: readonly CallAnswer[]
}

/**
 * What a token can do. Found by calls, because code behind proxies cannot be
 * scanned.
 */
export type TokenCapabilities = {
  /** Has `receiveWithAuthorization` (Circle since v2.1). */
  receive: boolean
  /** Has `transferWithAuthorization`. */
  transfer: boolean
  /** Has `cancelAuthorization`. */
  cancel: boolean
  /** Takes signatures as `bytes`, so contract wallets can pay (ERC-7598). */
  bytes: boolean
  /** Can be paused. */
  pause: boolean
  /** Can block accounts. */
  blockList: boolean
  /** `authorizationState` is Circle v2.0's enum and not a boolean. */
  stateEnum: boolean
}
