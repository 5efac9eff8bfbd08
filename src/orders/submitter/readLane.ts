import type { Hash } from 'viem'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'
import { getLaneHead, type LaneHead } from '../../chain/state/getLaneHead.js'
import { getReceipts } from '../../chain/state/getReceipts.js'
import { hasCode } from '../../chain/state/hasCode.js'
import { type ProofReceipt, zeroHash } from '../../core/receiptProof.js'
import type { TransactionRecord } from '../../store/types.js'
import type { OrdersContext } from '../model/types.js'
import type { LaneState } from './laneState.js'

/** What one look at the chain showed of a lane. */
export type LaneView = LaneHead & {
  /** Of open transactions, in sealed blocks only. */
  receipts: ReadonlyMap<Hash, ProofReceipt>
  /** Of open transactions, in the block being made. */
  preconfirmed: ReadonlyMap<Hash, ProofReceipt>
  /** Unix seconds, for the blocks of the receipts. */
  blockTimes: ReadonlyMap<bigint, bigint>
  /** Receipts were not asked for yet: more of what is open gets in by the look. */
  isEarly: boolean
}

/** Receipts that are asked for before it is known whether there are any. */
const guesses = 16

/**
 * Looks at the chain: heads, counts and the receipts of a few in one tick, those
 * of many once the account's count says that they are there.
 */
export async function readLane(
  { policy }: Pick<OrdersContext, 'policy'>,
  lane: LaneState,
): Promise<LaneView> {
  const { reader, wallet } = lane
  const { account } = wallet.lane
  const isLong = isMany(lane) && !lane.isQuick
  const [head, early, isContract] = await Promise.all([
    getLaneHead(reader, { account, safe: policy.blocks?.safe }),
    getReceipts(reader, isLong ? [] : hashesOf(lane.open)),
    lane.hasCode ?? hasCode(reader, account),
  ])
  lane.hasCode = isContract
  const passed = isLong ? findPassed(lane, head) : []
  const isEarly = isLong && isFilling(lane, head, passed.length)
  lane.count = head.count
  const late = await getReceipts(reader, isEarly ? [] : hashesOf(passed))
  const receipts = new Map<Hash, ProofReceipt>()
  const preconfirmed = new Map<Hash, ProofReceipt>()
  for (const receipt of [...early, ...late]) {
    if (!receipt) continue
    const place = receipt.blockHash === zeroHash ? preconfirmed : receipts
    place.set(lower(receipt.transactionHash), receipt)
  }
  const blockTimes = await timeBlocks(lane, receipts)
  return { ...head, receipts, preconfirmed, blockTimes, isEarly }
}

/** So many in flight that their receipts are asked for only when they are there. */
export function isMany({ open }: Pick<LaneState, 'open'>): boolean {
  return open.length > guesses
}

function findPassed(
  { open, value }: LaneState,
  { count }: LaneHead,
): TransactionRecord[] {
  return open.filter(({ nonce }) => nonce < count || value.ignoresNonce)
}

/** Hundreds settle in a few steps, not in one for each block. */
function isFilling(
  { open, count: before }: LaneState,
  { count }: LaneHead,
  passed: number,
): boolean {
  return before !== undefined && count > before && 2 * passed < open.length
}

function hashesOf(rows: readonly TransactionRecord[]): Hash[] {
  return rows.flatMap(({ hash }) => hash ?? [])
}

function lower(hash: Hash): Hash {
  return hash.toLowerCase() as Hash
}

/** Asks only for the blocks whose receipts do not tell their time. */
async function timeBlocks(
  { reader }: LaneState,
  receipts: ReadonlyMap<Hash, ProofReceipt>,
): Promise<ReadonlyMap<bigint, bigint>> {
  const times = new Map<bigint, bigint>()
  const unknown: bigint[] = []
  for (const { blockNumber, blockTime, logs } of receipts.values()) {
    if (blockTime !== undefined) times.set(blockNumber, blockTime)
    else if (logs.length > 0) unknown.push(blockNumber)
  }
  const asked = unknown.filter((number) => !times.has(number))
  for (const [number, { timestamp }] of await getBlockTimes(reader, asked))
    times.set(number, timestamp)
  return times
}
