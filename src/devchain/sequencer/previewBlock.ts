import { zeroHash } from 'viem'
import {
  asJson,
  asJsonList,
  type Json,
  type NodeCall,
  toHash,
  toQuantity,
} from './devRpc.js'
import { openTimestamp, type Sequencer } from './sequencer.js'

/**
 * Mines the block under construction, reads it, and makes the node undo it.
 * Afterwards the node's pool and its pending state hold the pre-confirmed
 * transactions and no others.
 *
 * Transactions that did not fit into the block return to the mempool. The
 * caller must hold the lock as a writer.
 */
export async function previewBlock(sequencer: Sequencer): Promise<void> {
  const { node } = sequencer
  // The finished block must equal this preview, so its time is fixed now. This
  // is also true if blocks are mined only on request.
  const timestamp = openTimestamp(sequencer)
  if (sequencer.blockTime === 0) sequencer.nextTimestamp = timestamp

  const snapshot = await node.request('evm_snapshot')
  await node.request('evm_mine', [{ timestamp }])
  const [block, receipts] = await node.batch([
    ['eth_getBlockByNumber', ['latest', true]],
    ['eth_getBlockReceipts', ['latest']],
  ])
  // Undoing the block empties the pool and sets the clock back, but keeps the
  // changed base fee of the next block. All three are restored below.
  await node.request('evm_revert', [snapshot])
  keepMined(sequencer, asJson(block))
  await node.batch([
    ['evm_setNextBlockTimestamp', [timestamp]],
    ['anvil_setNextBlockBaseFeePerGas', [asJson(block).baseFeePerGas]],
    ...sequencer.included.map(({ send }) => send),
  ])
  sequencer.pending = {
    number: Number(asJson(block).number),
    block: withoutHash(asJson(block)),
    receipts: asJsonList(receipts).map(withoutBlock),
  }
}

/** Begins the next block, without transactions. */
export async function openBlock(sequencer: Sequencer): Promise<void> {
  const { node, preconfirms } = sequencer
  const timestamp = openTimestamp(sequencer)
  const calls: NodeCall[] = [['evm_setNextBlockTimestamp', [timestamp]]]
  if (preconfirms) calls.push(['eth_getBlockByNumber', ['pending', true]])
  const [, block] = await node.batch(calls)
  if (!preconfirms) return

  const number = sequencer.head.number + 1
  const head = { number: toQuantity(number), timestamp: toQuantity(timestamp) }
  sequencer.pending = {
    number,
    block: withoutHash({ ...asJson(block), ...head }),
    receipts: [],
  }
}

/**
 * Builds the block under construction again, after the state it runs on has
 * changed.
 */
export async function refreshBlock(sequencer: Sequencer): Promise<void> {
  await (sequencer.included.length > 0 ? previewBlock : openBlock)(sequencer)
}

function keepMined(sequencer: Sequencer, block: Json): void {
  const { included } = sequencer
  const order = asJsonList(block.transactions).map(({ hash }) => toHash(hash))
  const place = new Map(order.map((hash, index) => [hash, index]))
  const at = ({ hash }: { hash: `0x${string}` }) => place.get(hash) ?? -1
  sequencer.mempool.unshift(...included.filter((one) => at(one) < 0))
  sequencer.included = included
    .filter((one) => at(one) >= 0)
    .sort((a, b) => at(a) - at(b))
}

function withoutHash(block: Json): Json {
  return {
    ...block,
    hash: zeroHash,
    transactions: asJsonList(block.transactions).map((transaction) => ({
      ...transaction,
      blockHash: null,
    })),
  }
}

function withoutBlock({ blockTimestamp: _, ...receipt }: Json): Json {
  const logs = asJsonList(receipt.logs).map((log) => ({
    ...log,
    blockHash: zeroHash,
  }))
  return { ...receipt, blockHash: zeroHash, logs }
}
