import type { Address, Hash } from 'viem'
import type { NodeConnection } from './connectNode.js'
import type { Lock } from './createLock.js'
import { asJson, type Json, type NodeCall, toHash } from './devRpc.js'
import type { Delta, Feed } from './feed.js'

/** A transaction that the network has accepted but no block contains yet. */
export type DevTransaction = {
  hash: Hash
  /** Sender in lower case. */
  from: Address
  nonce: number
  maxFee: bigint
  /** The transaction in the form in which a node returns it from its pool. */
  pooled: Json
  /** The call that sends the transaction to the node. It can be repeated. */
  send: NodeCall
}

export type Head = { number: number; hash: Hash; timestamp: number }

/** The block under construction, as it would be if it were finished now. */
export type PendingBlock = {
  number: number
  /**
   * The block with full transactions. Its hash is zero, because it has none
   * yet.
   */
  block: Json
  /** One receipt for each transaction, with a zero block hash. */
  receipts: readonly Json[]
}

/**
 * A pre-confirmed log that no block will have. `after` is the number of real
 * logs before it.
 */
export type Phantom = { log: Json; after: number }

/** What clients see as `pending` after `stall`. It no longer changes. */
type FrozenView = {
  pending: PendingBlock
  balances: ReadonlyMap<string, unknown>
}

/** State of an emulated network that its node does not have. */
export type Sequencer = {
  readonly node: NodeConnection
  readonly lock: Lock
  readonly feed: Feed
  /**
   * True if transactions are pre-confirmed before a block has them, as with
   * Flashblocks.
   */
  readonly preconfirms: boolean
  /** Milliseconds between blocks. At 0, blocks are mined only on request. */
  blockTime: number
  head: Head
  /**
   * When to finish the block under construction, in Unix milliseconds of this
   * machine's clock.
   */
  due: number
  /** Seconds by which the chain's clock is ahead of this machine's. */
  offset: number
  /** Time of the next block, if a test has asked for one. */
  nextTimestamp: number | undefined
  /** Transactions that were accepted but are not pre-confirmed yet. */
  mempool: DevTransaction[]
  /**
   * Transactions that are pre-confirmed. The node's pool contains these and no
   * others.
   */
  included: DevTransaction[]
  pending: PendingBlock | undefined
  view: 'live' | 'lost' | FrozenView
  phantoms: Phantom[]
  lastDelta: Delta | undefined
  /** When each block was finished, in milliseconds of the chain's clock. */
  sealedAt: Map<number, number>
  waiters: Map<Hash, Set<(receipt: Json) => void>>
}

/**
 * Creates a sequencer (which builds the blocks) at the node's newest block.
 * Does not begin a block yet.
 */
export async function createSequencer(
  parts: Pick<
    Sequencer,
    'node' | 'lock' | 'feed' | 'preconfirms' | 'blockTime'
  >,
): Promise<Sequencer> {
  return {
    ...parts,
    head: await getHead(parts.node),
    due: Date.now() + parts.blockTime,
    offset: 0,
    nextTimestamp: undefined,
    mempool: [],
    included: [],
    pending: undefined,
    view: 'live',
    phantoms: [],
    lastDelta: undefined,
    sealedAt: new Map(),
    waiters: new Map(),
  }
}

export async function getHead(node: NodeConnection): Promise<Head> {
  const params = ['latest', false]
  const block = asJson(await node.request('eth_getBlockByNumber', params))
  return {
    number: Number(block.number),
    hash: toHash(block.hash),
    timestamp: Number(block.timestamp),
  }
}

export function openTimestamp(sequencer: Sequencer): number {
  const { head, due, offset, blockTime, nextTimestamp } = sequencer
  const sealing = blockTime === 0 ? Date.now() : due
  const planned = Math.floor(sealing / 1000) + offset
  return nextTimestamp ?? Math.max(head.timestamp, planned)
}

export function answerWaiters(
  { waiters }: Sequencer,
  receipts: readonly Json[],
): void {
  if (waiters.size === 0) return
  for (const receipt of receipts) {
    const hash = toHash(receipt.transactionHash)
    for (const settle of waiters.get(hash) ?? []) settle(receipt)
    waiters.delete(hash)
  }
}
