import type { Client } from 'viem'
import type { BlockHead } from '../../chain/rpc/requestNode.js'
import type { Destination, Lease } from '../../store/types.js'
import type { SeenBlock } from '../evidence/findCanonical.js'
import type { ChainHeads } from '../evidence/getHeads.js'
import type { Aside } from '../model/putAside.js'

/** What one look at a destination works with. */
export type Watch = {
  client: Client
  destination: Destination
  heads: ChainHeads
  memory: WatchMemory
  lease: Lease | undefined
  /** Takes steps of a look, and orders, that failed and wait. */
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
 * What the looks under one lease remember. `newMemory` creates it, and only the
 * file named at each field changes that field.
 */
export type WatchMemory = {
  /**
   * Single things that failed, by name: their step, and when they are due
   * again. Changed by `tryStep`.
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
  /** The highest seen block that was given up because no node knows it. */
  dropped?: bigint | undefined
  /** Proofs from here on are not yet known to be where they were. */
  recheckFrom?: bigint | undefined
  /**
   * The blocks that the last looks named as safe and final. Changed by
   * `believeFinality`.
   */
  finality?: { safe: SeenFinality; finalized: SeenFinality } | undefined
  /**
   * Drafts that were unpaid at their end, by id: when we first saw that. Changed
   * by `judgeExpiry`, which forgets old ones too.
   */
  unpaid: Map<string, bigint>
  /**
   * When to reconcile next, in milliseconds of `performance`: the wall clock may
   * be set back. Changed by `watchDestination`, as is the next one.
   */
  nextReconcile?: number | undefined
  /** When to look back to the last final block next. */
  nextDeepReconcile?: number | undefined
  /**
   * Place in the stream up to which captures were announced. Changed by
   * `fulfilIncluded`.
   */
  fulfilledTo?: bigint | undefined
}

/** What is remembered at first, under a new lease. */
export function newMemory(): WatchMemory {
  return { apart: new Map(), unpaid: new Map() }
}
