import type { Client } from 'viem'
import type { BlockHead } from '../../chain/rpc/requestNode.js'
import type { Destination, Lease } from '../../store/types.js'
import type { SeenBlock } from '../evidence/findCanonical.js'
import type { ChainHeads } from '../evidence/getHeads.js'
import type { Aside } from '../model/putAside.js'
import type { Evidence } from '../model/settleOrder.js'

/** The input of one look at a destination. */
export type Watch = {
  client: Client
  destination: Destination
  heads: ChainHeads
  memory: WatchMemory
  lease: Lease | undefined
  /** Holds steps and orders that failed and wait for their next try. */
  aside: Pick<Aside, 'put' | 'isWaiting' | 'clear'>
}

/** A look with the safe and final blocks on which two looks agree. */
export type SureWatch = Watch & { sure: SureHeads }

/** The safe and final blocks that two looks have confirmed. */
export type SureHeads = {
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
}

/** The block the node named for one tag, and the one that is confirmed. */
export type SeenFinality = {
  /** Named by the last look, and not confirmed yet. */
  claimed: BlockHead | undefined
  believed: BlockHead | undefined
}

/**
 * State that the looks under one lease share. `newMemory` creates it. Only the
 * file named at a field changes that field.
 */
export type WatchMemory = {
  /**
   * Single things that failed, by name: their step, and the chain time of the
   * next try, in Unix seconds. Changed by `tryStep`.
   */
  apart: Map<string, { step: string; due: bigint }>
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
   * The blocks that the last looks named as safe and final. Changed by
   * `believeFinality`.
   */
  finality?: { safe: SeenFinality; finalized: SeenFinality } | undefined
  /**
   * Drafts that were unpaid at the end of their window, by id: the chain time
   * of the first look that saw it, in Unix seconds. Changed by `judgeExpiry`;
   * `expireDue` removes old ones.
   */
  unpaid: Map<string, bigint>
  /**
   * Searches for payments that go on beside the looks, by order and state.
   * Changed by `judgeExpiry`.
   */
  searches: Map<string, Promise<Evidence | undefined>>
  /**
   * When to reconcile next, in milliseconds of `performance.now()`, because the
   * wall clock may be set back. Changed by `watchDestination`, as is the next
   * field.
   */
  nextReconcile?: number | undefined
  /** When the next reconciliation goes back to the last final block. */
  nextDeepReconcile?: number | undefined
  /**
   * A wallet that is asked to sign a refund, while it is. Changed by
   * `carryRefunds`.
   */
  signing?: Promise<void> | undefined
  /**
   * Cursor of the last event that was read for captures. Changed by
   * `fulfilIncluded`.
   */
  fulfilledTo?: bigint | undefined
}

/** The empty memory of a new lease. */
export function newMemory(): WatchMemory {
  return { apart: new Map(), unpaid: new Map(), searches: new Map() }
}
