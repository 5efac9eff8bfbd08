import type { Address, Client, Hex } from 'viem'
import type { BlockSelector } from '../rpc/requestNode.js'

/** One call of a run. Without data and gas it only asks whether code is there. */
export type Call = {
  target: Address
  data: string
  gas: number
  /**
   * What the target asks a contract it does not trust, such as the payer's
   * wallet. Only used where the gas of the whole call cannot be measured.
   */
  question?: (() => Pick<Call, 'target' | 'data'>) | undefined
}

export type CallAnswer = {
  ok: boolean
  /** What the call returned, or its revert data. */
  data: Hex
  /** Whether the target has code. */
  hasCode: boolean
  /** Gas of the call alone; unknown where the calls went out one by one. */
  gasUsed?: bigint
  /** A node's text about a failed call. */
  words?: string
}

/** Fee fields of a transaction, in wei per gas. */
export type CallFees = {
  maxFeePerGas?: bigint | undefined
  maxPriorityFeePerGas?: bigint | undefined
  gasPrice?: bigint | undefined
}

/** Who asks a call at which block, at what price. */
export type AskedAt = { from: Address; at: string; fees?: CallFees | undefined }

/** Another way to run the same calls. */
type Fallback = (
  client: Client,
  parameters: RunCallsParameters<string>,
) => Promise<RawAnswers>

export type RunCallsParameters<names extends string> = {
  /** The account the calls come from. */
  from: Address
  /** The sender of the transaction around them. @default `from` */
  origin?: Address | undefined
  /**
   * Simulated in order and undone. A fallback simulates the first at most,
   * because the others would not see its effect.
   */
  steps?: readonly Call[] | undefined
  /** Asked on the state before the steps. */
  calls: Readonly<Record<names, Call>>
  block: BlockSelector
  /** Of the steps. @default a price above the base fee */
  fees?: CallFees | undefined
  /** For nodes without state overrides. */
  fallback: Fallback
  /** Asks one by one, for where the executor cannot stand in for `from`. */
  plain?: boolean | undefined
}

/** The block a run was answered at, and how. */
export type RunHead = {
  number: bigint
  /** Unix seconds. */
  timestamp: bigint
  chainId: number
  /** `override`: the executor's. `calls`: without state overrides. */
  via: 'override' | 'calls'
}

export type RunAnswers<names extends string> = {
  head: RunHead
  steps: readonly CallAnswer[]
  calls: Readonly<Record<names, CallAnswer>>
}

/** The same, with the calls still in the order they were given. */
export type RawAnswers = {
  head: RunHead
  steps: readonly CallAnswer[]
  calls: readonly CallAnswer[]
}

/** What a token can do, probed by calls: code behind proxies is not scanned. */
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
