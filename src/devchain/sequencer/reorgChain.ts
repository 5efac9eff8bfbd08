import { type Hash, numberToHex } from 'viem'
import { followNode, stamp } from './advanceSequencer.js'
import {
  asJson,
  asJsonList,
  invalidParams,
  type Json,
  toHash,
  toQuantity,
} from './devRpc.js'
import { receiptLogs } from './pendingView.js'
import { openBlock, refreshBlock } from './previewBlock.js'
import type { DevTransaction, Head, Sequencer } from './sequencer.js'

/**
 * Replaces the newest blocks by as many empty ones, and sends subscribers the
 * logs that are gone. With `replay`, the transactions return to the mempool;
 * otherwise they are lost.
 */
export async function reorgChain(
  sequencer: Sequencer,
  { depth, replay }: { depth: number; replay: boolean },
): Promise<void> {
  const { node, feed, lock } = sequencer
  await lock.exclusive(async () => {
    const { head } = sequencer
    const first = firstOf(head, depth)
    const old = await getBlocks(sequencer, first)
    const gone = replay ? old.flatMap((block) => toTransactions(block)) : []
    const again = [...gone, ...sequencer.included, ...sequencer.mempool]
    await node.request('anvil_rollback', [depth])
    await node.request('anvil_dropAllTransactions')
    for (const block of old) await mineInstead(sequencer, block)

    for (const block of [...old].reverse())
      feed.pushLogs(asJsonList(stamp(sequencer, removedLogs(block))))
    sequencer.included = []
    sequencer.mempool = sequencer.preconfirms ? again : []
    sequencer.phantoms = []
    sequencer.head = { ...head, number: first - 1 }
    await followNode(sequencer)
    await openBlock(sequencer)
    if (!sequencer.preconfirms)
      for (const { send } of again) await node.request(...send)
  })
}

/**
 * Drops a pre-confirmed transaction, or all of them. The sender's later
 * transactions return to the mempool. They wait there until another transaction
 * uses the dropped account nonce.
 */
export async function dropPending(
  sequencer: Sequencer,
  hash?: Hash | undefined,
): Promise<Hash[]> {
  return sequencer.lock.exclusive(async () => {
    const isGone = (one: DevTransaction) => !hash || one.hash === hash
    const gone = sequencer.included.filter(isGone)
    const kept = sequencer.included.filter((one) => !isGone(one))
    const isOrphan = ({ from, nonce }: DevTransaction) =>
      gone.some((one) => one.from === from && one.nonce < nonce)
    sequencer.mempool.unshift(...kept.filter(isOrphan))
    await replaceIncluded(
      sequencer,
      kept.filter((one) => !isOrphan(one)),
    )
    return gone.map((one) => one.hash)
  })
}

/**
 * Reverses the order of the senders. The transactions of one sender stay in the
 * order of their account nonces.
 */
export async function reorderPending(sequencer: Sequencer): Promise<void> {
  await sequencer.lock.exclusive(async () => {
    const { included } = sequencer
    const senders = [...new Set(included.map(({ from }) => from))].reverse()
    const order = senders.flatMap((sender) =>
      included.filter(({ from }) => from === sender),
    )
    await replaceIncluded(sequencer, order)
  })
}

export async function replaceIncluded(
  sequencer: Sequencer,
  transactions: DevTransaction[],
): Promise<void> {
  const { node } = sequencer
  sequencer.included = transactions
  await node.request('anvil_dropAllTransactions')
  await node.batch(transactions.map(({ send }) => send))
  await refreshBlock(sequencer)
}

export function firstOf({ number }: Head, depth: number): number {
  if (!Number.isInteger(depth) || depth < 1 || depth > number)
    throw invalidParams(`depth must be from 1 to ${number}`)
  return number - depth + 1
}

type OldBlock = { block: Json; receipts: Json[]; raws: unknown[] }

export async function getBlocks(
  { node, head }: Pick<Sequencer, 'node' | 'head'>,
  first: number,
): Promise<OldBlock[]> {
  const blocks: OldBlock[] = []
  for (let number = first; number <= head.number; number++) {
    const params = [toQuantity(number), true]
    const block = asJson(await node.request('eth_getBlockByNumber', params))
    const receipts = await node.request('eth_getBlockReceipts', [params[0]])
    const raws = await node.batch(
      asJsonList(block.transactions).map(({ hash }) => [
        'eth_getRawTransactionByHash',
        [hash],
      ]),
    )
    blocks.push({ block, receipts: asJsonList(receipts), raws })
  }
  return blocks
}

/**
 * Mines an empty block with the time of the old one. Its base fee is 1 wei
 * higher, so that its hash differs.
 */
async function mineInstead(
  { node }: Sequencer,
  { block }: OldBlock,
): Promise<void> {
  const baseFee = BigInt(String(block.baseFeePerGas)) + 1n
  await node.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(baseFee)])
  await node.request('evm_mine', [{ timestamp: Number(block.timestamp) }])
}

function removedLogs({ receipts }: OldBlock): Json[] {
  return receiptLogs(receipts).map((log) => ({ ...log, removed: true }))
}

/**
 * Returns the signed transactions of an old block, so that they can be sent
 * again. Transactions that the node sent without a key have no signature and
 * are left out.
 */
export function toTransactions({ block, raws }: OldBlock): DevTransaction[] {
  return asJsonList(block.transactions).flatMap((one, at) => {
    if (BigInt(String(one.r ?? 0)) === 0n) return []
    const maxFee = BigInt(String(one.maxFeePerGas ?? one.gasPrice ?? 0))
    return {
      hash: toHash(one.hash),
      from: toHash(one.from),
      nonce: Number(one.nonce),
      maxFee,
      pooled: {
        ...one,
        blockHash: null,
        blockNumber: null,
        transactionIndex: null,
      },
      send: ['eth_sendRawTransaction', [raws[at]]] as const,
    }
  })
}
