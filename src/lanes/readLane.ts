import type { Hash } from 'viem'
import { type ProofReceipt, zeroHash } from '../base/receiptProof.js'
import type { OrdersContext } from '../ledger/types.js'
import { getBlockTimes } from '../reads/getBlockTimes.js'
import { getLaneHead, type LaneHead } from '../reads/getLaneHead.js'
import { getReceipts } from '../reads/getReceipts.js'
import { readBytes, requestNode } from '../reads/requestNode.js'
import type { TransactionRecord } from '../store/types.js'
import type { LaneState } from './laneState.js'

/** What one look at the chain showed of a lane. */
export type LaneView = LaneHead & {
  /** Of open transactions, in sealed blocks only. */
  receipts: ReadonlyMap<Hash, ProofReceipt>
  /** Unix seconds, for the blocks of the receipts. */
  blockTimes: ReadonlyMap<bigint, bigint>
}

/** Receipts that are asked for before it is known whether there are any. */
const guesses = 16

/**
 * Looks at the chain: heads, counts and the receipts that are likely there in
 * one tick, the others once the account's count says that they are.
 */
export async function readLane(
  { policy }: Pick<OrdersContext, 'policy'>,
  lane: LaneState,
): Promise<LaneView> {
  const { reader, wallet } = lane
  const { account } = wallet.lane
  const lowest = hashesOf(lane.open.slice(0, guesses))
  const [head, early, hasCode] = await Promise.all([
    getLaneHead(reader, { account, safe: policy.blocks?.safe }),
    getReceipts(reader, lowest),
    lane.hasCode ?? isContract(lane),
  ])
  lane.hasCode = hasCode
  const passed = lane.open
    .slice(guesses)
    .filter(({ nonce }) => nonce < head.count || lane.value.ignoresNonce)
  const late = await getReceipts(reader, hashesOf(passed))
  const receipts = new Map<Hash, ProofReceipt>()
  for (const receipt of [...early, ...late])
    if (receipt && receipt.blockHash !== zeroHash)
      receipts.set(lower(receipt.transactionHash), receipt)
  return { ...head, receipts, blockTimes: await timeBlocks(lane, receipts) }
}

function hashesOf(rows: readonly TransactionRecord[]): Hash[] {
  return rows.flatMap(({ hash }) => hash ?? [])
}

function lower(hash: Hash): Hash {
  return hash.toLowerCase() as Hash
}

async function isContract({ reader, wallet }: LaneState): Promise<boolean> {
  const method = 'eth_getCode'
  const code = await requestNode(reader, method, [
    wallet.lane.account,
    'latest',
  ])
  return readBytes(code, method) !== '0x'
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
