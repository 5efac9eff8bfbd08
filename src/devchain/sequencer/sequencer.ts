import type { Address, Hash } from 'viem'
import type { NodeConnection } from './connectNode.js'
import type { Lock } from './createLock.js'
import { asJson, type Json, type NodeCall, toHash } from './devRpc.js'
import type { Delta, Feed } from './feed.js'

/** A transaction the sequencer knows and no block holds yet. */
export type DevTransaction = {
  hash: Hash
  /** Lower case. */
  from: Address
  nonce: number
  maxFee: bigint
  /** As a node tells of it while it waits in the node's own pool. */
  pooled: Json
  /** What hands it to the node, as often as needed. */
  send: NodeCall
}

export type Head = { number: number; hash: Hash; timestamp: number }

/** The block under construction as it would be mined now. */
export type PendingBlock = {
  number: number
  /** Zero hash; transactions in full. */
  block: Json
  /** Zero block hash, one for each transaction. */
  receipts: readonly Json[]
}

/** A log that is shown as pre-confirmed and never becomes canonical. */
export type Phantom = { log: Json; after: number }

/** A pending view that no longer moves. */
type FrozenView = {
  pending: PendingBlock
  balances: ReadonlyMap<string, unknown>
}

/** Everything an emulated network knows beyond what its node knows. */
export type Sequencer = {
  readonly node: NodeConnection
  readonly lock: Lock
  readonly feed: Feed
  /** Whether transactions are pre-confirmed before their block is sealed. */
  readonly preconfirms: boolean
  /** Milliseconds; 0 means that blocks are only mined on demand. */
  blockTime: number
  head: Head
  /** When the open block is sealed, in milliseconds of the wall clock. */
  due: number
  /** Seconds the chain is ahead of the wall clock. */
  offset: number
  /** The next block's timestamp, where someone asked for one. */
  nextTimestamp: number | undefined
  /** Accepted, seen by nobody but us. */
  mempool: DevTransaction[]
  /** Pre-confirmed: in the open block, and in the node's pool. */
  included: DevTransaction[]
  pending: PendingBlock | undefined
  view: 'live' | 'lost' | FrozenView
  phantoms: Phantom[]
  lastDelta: Delta | undefined
  /** When a block was sealed, in chain milliseconds. */
  sealedAt: Map<number, number>
  waiters: Map<Hash, Set<(receipt: Json) => void>>
}

/** A sequencer at the node's present head, its first block not open yet. */
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

/** The timestamp the open block has. */
export function openTimestamp(sequencer: Sequencer): number {
  const { head, due, offset, blockTime, nextTimestamp } = sequencer
  const sealing = blockTime === 0 ? Date.now() : due
  const planned = Math.floor(sealing / 1000) + offset
  return nextTimestamp ?? Math.max(head.timestamp, planned)
}

/** Hands a receipt to whoever waits for its transaction. */
export function settleWaiters(
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
