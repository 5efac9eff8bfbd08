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
  /** All destinations of the chain that this poll covers. */
  destinations: readonly Destination[]
  heads: ChainHeads
  memory: WatchMemory
  lease: Lease | undefined
  /** Steps and orders that failed and wait for their next try. */
  aside: WatchAside
  /** Single orders or proofs that failed in a step. Changed by `tryStep`. */
  apart: ApartEntries
}

/** A poll, with the safe and final blocks that two polls have confirmed. */
export type SureWatch = Watch & { sure: SureHeads }

/** A poll of the destinations of one token, with the client of that token. */
export type TokenWatch = Watch & {
  token: Address
  /** All destinations of the token; `destinations` may be a part of them. */
  all: readonly Destination[]
  tokenMemory: TokenMemory
}

/** The safe and final blocks that two polls have confirmed. */
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
  /** Named by the last poll, and not confirmed yet. */
  claimed: BlockHead | undefined
  believed: BlockHead | undefined
}

/** The proofs in one transaction that polls still compare with the chain. */
export type FreshProof = {
  transactionHash: Hash
  /** Id of the consumed order; absent for stored proofs. */
  consumed: string | undefined
  /**
   * The block of a consumed order, if its event names the block. Proofs have
   * their own.
   */
  blockHash: Hash | undefined
  /** Number of polls in a row that found the proof in the chain. */
  looks: number
}

/**
 * State that the polls under one lease share. `newMemory` creates it. Only the
 * file named at a field changes that field.
 */
export type WatchMemory = {
  /** Single orders or proofs that failed in steps of the whole chain. */
  apart: ApartEntries
  /**
   * True after a poll that found nothing to wait for. Changed by `watchChain`.
   */
  isQuiet?: boolean | undefined
  /**
   * `changes` of the shop whose recipients the poll covers. Changed by
   * `watchChain`.
   */
  changes?: number | undefined
  /** State of the steps of one token. Changed by `watchChain`. */
  tokens: Map<Address, TokenMemory>
  /**
   * Newest blocks that a later poll found again by number, the lowest first.
   * Changed by `checkReorg`, as are the next four.
   */
  seen?: readonly SeenBlock[] | undefined
  /** The newest block of the last poll, not yet found again by another poll. */
  head?: SeenBlock | undefined
  /** Polls in a row in which the node lacked a block seen before. */
  behind?: { looks: number; from: bigint; newest: bigint } | undefined
  /**
   * The newest seen block that `checkReorg` no longer waits for, because the
   * node kept lacking it.
   */
  dropped?: bigint | undefined
  /** First block whose proofs have to be checked again. */
  recheckFrom?: bigint | undefined
  /**
   * Proofs that fewer than two polls in a row have found in the chain, by order
   * and transaction. Changed by `checkFresh`, as are the next two.
   */
  fresh: Map<string, FreshProof>
  /** Cursor of the last event that was searched for new proofs. */
  freshTo?: bigint | undefined
  /** Orders with a proof that this poll did not find: not fulfilled now. */
  held: ReadonlySet<string>
  /**
   * The blocks that the last polls named as safe and final. Changed by
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
  /** How far the events were read for captures. Changed by `fulfilIncluded`. */
  fulfilled?: FulfilledTo | undefined
}

/** State that the polls of one token share under one lease. */
export type TokenMemory = {
  /** Single orders or proofs that failed in steps of the token. */
  apart: ApartEntries
  /**
   * Drafts that were unpaid at the end of their window, by id: the chain time
   * of the first poll that saw it, in Unix seconds. Changed by `judgeExpiry`;
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
  /** Recipients that are being read separately, in the background. */
  catching: Map<Address, Promise<void>>
  /** Recipients that were read separately, and up to which block. */
  caughtUp: Map<Address, bigint>
}

/** How far events were read to fulfil captured orders. */
export type FulfilledTo = {
  /** Cursor of the last event that was read. */
  after: bigint
  /** Ids of captured orders up to `after` whose block no poll has found yet. */
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
