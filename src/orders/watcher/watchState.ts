import type { Address, Client, Hash } from 'viem'
import type { BlockHead } from '../../chain/rpc/requestNode.js'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import type { Destination, Lease } from '../../store/types.js'
import type { SeenBlock } from '../evidence/findCanonical.js'
import type { Evidence } from '../model/settleOrder.js'
import type { Places } from './destinationCursor.js'
import type { WatchAside } from './watchAside.js'

export type Watch = {
  client: Client
  chainId: number
  /** All destinations of the chain that this look covers. */
  destinations: readonly Destination[]
  heads: ChainHeads
  memory: WatchMemory
  lease: Lease | undefined
  /** Holds steps and orders that failed and wait for their next try. */
  aside: WatchAside
  /** Single orders or proofs that failed in a step. Changed by `tryStep`. */
  apart: ApartEntries
}

/** A look with the safe and final blocks on which two looks agree. */
export type SureWatch = Watch & { sure: SureHeads }

/** A look at the destinations of one token, with the client of that token. */
export type TokenWatch = Watch & {
  token: Address
  /** All destinations of the token; `destinations` may be a part of them. */
  all: readonly Destination[]
  tokenMemory: TokenMemory
}

/** The safe and final blocks that two looks have confirmed. */
export type SureHeads = {
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
}

/**
 * Single orders or proofs that failed, by name: their step, and the chain time
 * of the next try, in Unix seconds.
 */
type ApartEntries = Map<string, { step: string; due: bigint }>

/** The block the node named for one tag, and the one that is confirmed. */
export type SeenFinality = {
  /** Named by the last look, and not confirmed yet. */
  claimed: BlockHead | undefined
  believed: BlockHead | undefined
}

/** The proofs in one transaction that looks still compare with the chain. */
export type FreshProof = {
  transactionHash: Hash
  /** Id of the consumed order; absent for proofs on record. */
  consumed: string | undefined
  /**
   * The block of a consumed order, if its event names the block. Proofs have
   * their own.
   */
  blockHash: Hash | undefined
  /** Number of looks in a row that found the proof in the chain. */
  looks: number
}

/**
 * State that the looks under one lease share. `newMemory` creates it. Only the
 * file named at a field changes that field.
 */
export type WatchMemory = {
  /** Single orders or proofs that failed in steps of the whole chain. */
  apart: ApartEntries
  /**
   * True after a look that found nothing to wait for. Changed by `watchChain`.
   */
  isQuiet?: boolean | undefined
  /**
   * `changes` of the shop whose recipients the look covers. Changed by
   * `watchChain`.
   */
  changes?: number | undefined
  /** State of the steps of one token. Changed by `watchChain`. */
  tokens: Map<Address, TokenMemory>
  /**
   * Heads that a later look found again by number, the lowest first. Changed by
   * `checkReorg`, as are the next four.
   */
  seen?: readonly SeenBlock[] | undefined
  /** The head of the last look, not yet found again by another look. */
  head?: SeenBlock | undefined
  /** Looks in a row at which the node was behind a block seen before. */
  behind?: { looks: number; from: bigint; newest: bigint } | undefined
  /**
   * The newest seen block that `checkReorg` dropped because the node stayed
   * behind it.
   */
  dropped?: bigint | undefined
  /** First block whose proofs have to be checked again. */
  recheckFrom?: bigint | undefined
  /**
   * Proofs that no two looks have found in the chain yet, by order and
   * transaction. Changed by `checkFresh`, as are the next two.
   */
  fresh: Map<string, FreshProof>
  /** Cursor of the last event that was read for fresh proofs. */
  freshTo?: bigint | undefined
  /** Orders with a proof that this look did not find: not fulfilled now. */
  held: ReadonlySet<string>
  /**
   * The blocks that the last looks named as safe and final. Changed by
   * `believeFinality`.
   */
  finality?: { safe: SeenFinality; finalized: SeenFinality } | undefined
  /**
   * Wallets that are signing refunds now, by recipient. Changed by
   * `carryRefunds`.
   */
  signing: Map<Address, Promise<unknown>>
  /**
   * Ids of refunds whose signatures are being sealed and stored. Changed by
   * `carryRefunds`.
   */
  storing: Set<string>
  /**
   * How far the events were read for captures. Changed by `fulfilIncluded`.
   */
  fulfilled?: FulfilledTo | undefined
}

/** State that the looks at one token share under one lease. */
export type TokenMemory = {
  /** Single orders or proofs that failed in steps of the token. */
  apart: ApartEntries
  /**
   * Drafts that were unpaid at the end of their window, by id: the chain time
   * of the first look that saw it, in Unix seconds. Changed by `judgeExpiry`;
   * `expireDue` removes old ones.
   */
  unpaid: Map<string, bigint>
  /**
   * Searches for payments that go on in the background, by order and state.
   * Changed by `judgeExpiry`.
   */
  searches: Map<string, Promise<Evidence | undefined>>
  /**
   * When the last reconciliation began, in milliseconds of `performance.now()`,
   * because the wall clock may be set back. Changed by `watchChain`, as is the
   * next field.
   */
  reconciledAt?: number | undefined
  /** When the next reconciliation goes back to the last final block. */
  nextDeepReconcile?: number | undefined
  /**
   * How far the recipients are read. Changed by `reconcileToken`, as are the
   * next two.
   */
  places?: Places | undefined
  /** Recipients that are being read by themselves, in the background. */
  catching: Map<Address, Promise<void>>
  /** Recipients that were read by themselves, and up to which block. */
  caughtUp: Map<Address, bigint>
}

/** The place in the event stream up to which captures are fulfilled. */
export type FulfilledTo = {
  /** Cursor of the last event that was read. */
  after: bigint
  /** Ids of captured orders up to `after` whose block no look has found yet. */
  waiting: ReadonlySet<string>
}

export function newMemory(): WatchMemory {
  return {
    apart: new Map(),
    tokens: new Map(),
    fresh: new Map(),
    held: new Set(),
    signing: new Map(),
    storing: new Set(),
  }
}

export function newTokenMemory(): TokenMemory {
  return {
    apart: new Map(),
    unpaid: new Map(),
    searches: new Map(),
    catching: new Map(),
    caughtUp: new Map(),
  }
}
