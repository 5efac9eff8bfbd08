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
  /**
   * Single orders or proofs that failed in a step. Only `tryStep` changes them.
   */
  apart: ApartEntries
}

/**
 * A poll, with the `safe` and `finalized` blocks that two polls have confirmed.
 */
export type SureWatch = Watch & { sure: SureHeads }

/**
 * A poll of the destinations of one token, with the token's address and state.
 */
export type TokenWatch = Watch & {
  token: Address
  /** All destinations of the token; `destinations` may be a part of them. */
  all: readonly Destination[]
  tokenMemory: TokenMemory
}

/** The `safe` and `finalized` blocks that two polls have confirmed. */
export type SureHeads = {
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
}

/**
 * Single orders or proofs that failed, by name, with the step that failed and
 * the chain time of the next try, in Unix seconds.
 */
type ApartEntries = Map<string, { step: string; due: bigint }>

/**
 * A `safe` or `finalized` block: the one that the node named last, and the one
 * that is confirmed.
 */
export type SeenFinality = {
  /** The block that the last poll named. No other poll has confirmed it yet. */
  claimed: BlockHead | undefined
  believed: BlockHead | undefined
}

/**
 * New payments or cancellations in one transaction, which polls still compare
 * with the chain.
 */
export type FreshProof = {
  transactionHash: Hash
  /**
   * Id of an order in the state `consumed`, which has no stored proof;
   * otherwise absent.
   */
  consumed: string | undefined
  /**
   * The block of a `consumed` order, if its event names the block. Stored
   * proofs have their own.
   */
  blockHash: Hash | undefined
  /** Number of polls in a row that found the transaction in the chain. */
  looks: number
}

/**
 * State that all polls under one lease share. `newMemory` creates it. Only the
 * file that a field names changes that field.
 */
export type WatchMemory = {
  /**
   * Single orders or proofs that failed in steps that concern the whole chain.
   */
  apart: ApartEntries
  /**
   * True after a poll that found nothing to wait for. Changed by `watchChain`.
   */
  isQuiet?: boolean | undefined
  /**
   * Number of changes of the shop's recipients that the last poll knew. Changed
   * by `watchChain`.
   */
  changes?: number | undefined
  /**
   * What polls remember for the steps of each token. Changed by `watchChain`.
   */
  tokens: Map<Address, TokenMemory>
  /**
   * Newest blocks that a later poll found again by number, lowest first.
   * Changed by `checkReorg`, as are the next five fields.
   */
  seen?: readonly SeenBlock[] | undefined
  /**
   * The newest block of the last poll. No other poll has found it again yet.
   */
  head?: SeenBlock | undefined
  /** Latest time, in Unix seconds, of the newest block of a poll. */
  time?: bigint | undefined
  /**
   * How many polls in a row the node has lacked a block that was seen before.
   */
  behind?: { looks: number; from: bigint; newest: bigint } | undefined
  /**
   * The newest seen block that `checkReorg` stopped waiting for, because the
   * node kept lacking it.
   */
  dropped?: bigint | undefined
  /** First block from which stored payments have to be checked again. */
  recheckFrom?: bigint | undefined
  /**
   * New payments and cancellations that fewer than two polls in a row have
   * found in the chain, by order and transaction. Changed by `checkFresh`, as
   * are the next three fields.
   */
  fresh: Map<string, FreshProof>
  /** Cursor of the last event that was searched for new payments. */
  freshTo?: bigint | undefined
  /**
   * Whether any order is due for a check, and whether any refund is unsigned.
   * Both are true until the poll has asked. Also changed by `watchChain` and
   * `raiseSettled`.
   */
  due: { orders: boolean; refunds: boolean }
  /**
   * Orders whose payment this poll did not find in the chain: they are not
   * fulfilled now.
   */
  held: ReadonlySet<string>
  /**
   * The blocks that the last polls named as `safe` and `finalized`. Changed by
   * `believeFinality`.
   */
  finality?: { safe: SeenFinality; finalized: SeenFinality } | undefined
  /**
   * How far the events of captures were read, each to write a `fulfil` event
   * for its order. Changed by `fulfilIncluded`.
   */
  fulfilled?: FulfilledTo | undefined
}

/** State that all polls of one token share under one lease. */
export type TokenMemory = {
  /** Single orders or proofs that failed in steps that concern this token. */
  apart: ApartEntries
  /**
   * Drafts that were unpaid at the end of their window, by id, with the chain
   * time (Unix seconds) of the first poll that saw this. Changed by
   * `judgeExpiry`; `expireDue` removes old ones.
   */
  unpaid: Map<string, bigint>
  /**
   * Searches for payments that continue in the background, by order and state.
   * Changed by `judgeExpiry`.
   */
  searches: Map<string, Promise<Evidence | undefined>>
  /**
   * When the last reconciliation began, in milliseconds of `performance.now()`,
   * because the wall clock may be set back. Changed by `watchChain`, as is the
   * next field.
   */
  reconciledAt?: number | undefined
  /**
   * When the next reconciliation has to start at the last final block, in
   * milliseconds of `performance.now()`.
   */
  nextDeepReconcile?: number | undefined
  /**
   * The last block read for each recipient. Changed by `reconcileToken`, as are
   * the next two fields.
   */
  places?: Places | undefined
  /**
   * Recipients whose payments are being read in the background, separately from
   * the rest, because they are behind.
   */
  catching: Map<Address, Promise<void>>
  /**
   * Recipients that were read separately and are no longer behind, with the
   * last block read.
   */
  caughtUp: Map<Address, bigint>
}

/**
 * How far the events of captures were read, each to write a `fulfil` event for
 * its order.
 */
export type FulfilledTo = {
  /** Cursor of the last event that was read. */
  after: bigint
  /**
   * Ids of orders whose capture is in an event up to `after`, but in a block
   * that no poll has found in the chain yet.
   */
  waiting: ReadonlySet<string>
}

/** Before a poll has asked, anything may be due. */
export const unknownDue: WatchMemory['due'] = { orders: true, refunds: true }

export function newMemory(): WatchMemory {
  return {
    apart: new Map(),
    tokens: new Map(),
    fresh: new Map(),
    due: unknownDue,
    held: new Set(),
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
