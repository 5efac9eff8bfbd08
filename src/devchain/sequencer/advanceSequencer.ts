import { addMilliseconds } from './blockMilliseconds.js'
import {
  asJson,
  asJsonList,
  type Json,
  type NodeCall,
  RpcFault,
  toHash,
  toQuantity,
} from './devRpc.js'
import type { Delta } from './feed.js'
import { receiptLogs, visiblePending } from './pendingView.js'
import { openBlock, previewBlock } from './previewBlock.js'
import {
  answerWaiters,
  type DevTransaction,
  getHead,
  openTimestamp,
  type Sequencer,
} from './sequencer.js'

/** Pre-confirms the transactions in the mempool, and notifies subscribers. */
export async function tick(sequencer: Sequencer): Promise<void> {
  await sequencer.lock.exclusive(async () => {
    const before = new Set(sequencer.included.map(({ hash }) => hash))
    if (await includeMempool(sequencer)) await previewBlock(sequencer)
    announcePending(sequencer, before)
  })
}

/**
 * Finishes the block: seals the pre-confirmed transactions in it, and no
 * others.
 */
export async function seal(sequencer: Sequencer): Promise<void> {
  await sequencer.lock.exclusive(() => mineOne(sequencer))
}

/**
 * Mines blocks at once, as a local node does on request. The first block
 * contains all transactions of the mempool.
 */
export async function mineBlocks(
  sequencer: Sequencer,
  { blocks = 1, interval = 0 }: { blocks?: number; interval?: number },
): Promise<void> {
  await sequencer.lock.exclusive(async () => {
    if (await includeMempool(sequencer)) await previewBlock(sequencer)
    for (let left = blocks; left > 0; left--) {
      await mineOne(sequencer)
      if (interval && left > 1)
        sequencer.nextTimestamp = sequencer.head.timestamp + interval
    }
  })
}

/**
 * Call this after the node itself has changed its chain. Reads the newest block
 * again, and announces new blocks to subscribers.
 */
export async function followNode(sequencer: Sequencer): Promise<void> {
  const { number } = sequencer.head
  sequencer.head = await getHead(sequencer.node)
  if (sequencer.head.number > number) await announceBlocks(sequencer, number)
}

/**
 * Sends the node all transactions that can run now. The node's pool then holds
 * the transactions of the block under construction, and no others.
 */
async function includeMempool(sequencer: Sequencer): Promise<boolean> {
  const { node, mempool } = sequencer
  if (mempool.length === 0) return false
  const senders = [...new Set(mempool.map(({ from }) => from))]
  const counts = await node.batch(
    senders.map(
      (from): NodeCall => ['eth_getTransactionCount', [from, 'pending']],
    ),
  )
  const next = new Map(senders.map((from, at) => [from, Number(counts[at])]))
  const ready = takeReady(sequencer, next)
  const before = sequencer.included.length
  for (const transaction of ready)
    if (await isTaken(sequencer, transaction))
      sequencer.included.push(transaction)
  return sequencer.included.length > before
}

async function isTaken(
  { node }: Sequencer,
  { send }: DevTransaction,
): Promise<boolean> {
  try {
    await node.request(...send)
    return true
  } catch (error) {
    // "Already imported" is no failure: the node still has this transaction
    // from an earlier try, when a lower account nonce was missing. After any
    // other error, the transaction can never run.
    return error instanceof RpcFault && /already imported/.test(error.message)
  }
}

/**
 * Takes from the mempool the transactions that can run now. They come in order
 * of arrival, except that those of one sender come in order of their account
 * nonces.
 */
function takeReady(
  sequencer: Sequencer,
  next: Map<string, number>,
): DevTransaction[] {
  const ready: DevTransaction[] = []
  for (let found = true; found; ) {
    const waiting: DevTransaction[] = []
    for (const transaction of sequencer.mempool) {
      const { from, nonce } = transaction
      const expected = next.get(from) ?? 0
      if (nonce > expected) waiting.push(transaction)
      if (nonce !== expected) continue
      ready.push(transaction)
      next.set(from, nonce + 1)
    }
    found = waiting.length < sequencer.mempool.length && waiting.length > 0
    sequencer.mempool = waiting
  }
  return ready
}

function announcePending(
  sequencer: Sequencer,
  before: ReadonlySet<string>,
): void {
  const view = visiblePending(sequencer)
  if (!view || typeof sequencer.view === 'object') return
  const isNew = (hash: unknown) => !before.has(String(hash))
  const transactions = asJsonList(view.block.transactions).flatMap(
    (transaction, at) => {
      const receipt = view.receipts[at]
      return receipt && isNew(transaction.hash)
        ? [{ transaction, receipt }]
        : []
    },
  )
  const fresh = new Set(transactions.map(({ receipt }) => receipt))
  const logs = receiptLogs([...fresh])
  const delta: Delta = { block: view.block, transactions, logs }
  if (fresh.size > 0) sequencer.lastDelta = delta
  sequencer.feed.pushDelta(delta)
  answerWaiters(sequencer, [...fresh])
}

/** Finishes (seals) the block under construction, and begins the next one. */
async function mineOne(sequencer: Sequencer): Promise<void> {
  const { node, head } = sequencer
  const timestamp = openTimestamp(sequencer)
  await node.request('evm_mine', [{ timestamp }])
  const planned = sequencer.due + sequencer.offset * 1000
  const isThatSecond = Math.floor(planned / 1000) === timestamp
  const sealedAt = isThatSecond ? planned : timestamp * 1000
  sequencer.sealedAt.set(head.number + 1, sealedAt)

  // If a test has set the time of this block, the chain's clock continues from
  // that time.
  const ahead = timestamp - Math.floor(Date.now() / 1000)
  if (sequencer.nextTimestamp !== undefined)
    sequencer.offset = Math.max(sequencer.offset, ahead)
  sequencer.nextTimestamp = undefined
  sequencer.included = []
  sequencer.phantoms = []
  while (sequencer.blockTime > 0 && sequencer.due <= Date.now())
    sequencer.due += sequencer.blockTime
  if (sequencer.view === 'lost') sequencer.view = 'live'
  await followNode(sequencer)
  await openBlock(sequencer)
}

async function announceBlocks(
  sequencer: Sequencer,
  after: number,
): Promise<void> {
  const { node, feed, head } = sequencer
  for (let number = after + 1; number <= head.number; number++) {
    const block = toQuantity(number)
    const [header, receipts] = await node.batch([
      ['eth_getBlockByNumber', [block, false]],
      ['eth_getBlockReceipts', [block]],
    ])
    const list = asJsonList(receipts)
    feed.pushHead(asJson(stamp(sequencer, headerOf(asJson(header)))))
    feed.pushLogs(asJsonList(stamp(sequencer, receiptLogs(list))))
    answerWaiters(sequencer, list)
  }
}

/** Adds to blocks of 200 ms the millisecond at which they were finished. */
export function stamp(sequencer: Sequencer, value: unknown): unknown {
  if (sequencer.preconfirms) return value
  return addMilliseconds(value, sequencer.sealedAt)
}

function headerOf({
  transactions: _,
  uncles: __,
  withdrawals: ___,
  ...header
}: Json): Json {
  return { ...header, hash: toHash(header.hash) }
}
