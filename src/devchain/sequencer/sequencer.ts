import type { Address, Hash } from 'viem'
import type { NodeConnection } from './connectNode.js'
import type { Lock } from './createLock.js'
import { asJson, type Json, type NodeCall, toHash } from './devRpc.js'
import type { Delta, Feed } from './feed.js'

/** A known transaction that is in no block yet. */
export type DevTransaction = {
  hash: Hash
  /** In lower case. */
  from: Address
  nonce: number
  maxFee: bigint
  /** The transaction as a node returns it while it waits in the pool. */
  pooled: Json
  /** The call that sends it to the node, again and again if needed. */
  send: NodeCall
}

export type Head = { number: number; hash: Hash; timestamp: number }

/** The block under construction, as it would be sealed now. */
export type PendingBlock = {
  number: number
  /** Has a zero hash, because it has none yet, and its transactions in full. */
  block: Json
  /** One for each transaction, with a zero block hash. */
  receipts: readonly Json[]
}

/**
 * A pre-confirmed log that no block will have, and how many real logs stand
 * before it.
 */
export type Phantom = { log: Json; after: number }

/** What clients see as `pending` after `stall`: it does not change any more. */
type FrozenView = {
  pending: PendingBlock
  balances: ReadonlyMap<string, unknown>
}

/** What an emulated network knows beyond what its node does. */
export type Sequencer = {
  readonly node: NodeConnection
  readonly lock: Lock
  readonly feed: Feed
  /**
   * True if transactions are pre-confirmed before their block, as with
   * Flashblocks.
   */
  readonly preconfirms: boolean
  /** Milliseconds. At 0, blocks are mined on demand only. */
  blockTime: number
  head: Head
  /**
   * When to seal the block under construction, in Unix milliseconds of this
   * machine's clock.
   */
  due: number
  /** Seconds by which the chain's clock is ahead of this machine's. */
  offset: number
  /** Time of the next block, if a test has asked for one. */
  nextTimestamp: number | undefined
  /** Transactions that were accepted and are not pre-confirmed. */
  mempool: DevTransaction[]
  /**
   * Transactions that are pre-confirmed. The node's pool has these and no
   * others.
   */
  included: DevTransaction[]
  pending: PendingBlock | undefined
  view: 'live' | 'lost' | FrozenView
  phantoms: Phantom[]
  lastDelta: Delta | undefined
  /** When each block was sealed, in milliseconds of the chain's clock. */
  sealedAt: Map<number, number>
  waiters: Map<Hash, Set<(receipt: Json) => void>>
}

/**
 * Creates a sequencer at the node's newest block. Does not begin a block yet.
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
