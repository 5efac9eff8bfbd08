import { zeroHash } from 'viem'
import { asJson, asJsonList, type Json, toHash, toQuantity } from './devRpc.js'
import type { PendingBlock, Phantom, Sequencer } from './sequencer.js'

/**
 * The pending block that clients see. Its logs include those added by
 * `phantomLog`, which no contract emitted.
 */
export type PendingView = PendingBlock & { logs: readonly Json[] }

/**
 * Returns the block that clients see as `pending`, or `undefined` if they see
 * none. After `stall`, it is a copy that no longer changes.
 */
export function visiblePending({
  view,
  pending,
  phantoms,
}: Sequencer): PendingView | undefined {
  if (view === 'lost') return undefined
  if (typeof view === 'object')
    return { ...view.pending, logs: receiptLogs(view.pending.receipts) }
  return pending && withPhantoms(pending, phantoms)
}

export function findPending(
  view: PendingBlock | undefined,
  hash: unknown,
): { transaction: Json; receipt: Json } | undefined {
  const wanted = String(hash).toLowerCase()
  const transactions = asJsonList(view?.block.transactions)
  const index = transactions.findIndex((one) => one.hash === wanted)
  const [transaction, receipt] = [transactions[index], view?.receipts[index]]
  return transaction && receipt ? { transaction, receipt } : undefined
}

export function receiptLogs(receipts: readonly Json[]): Json[] {
  return receipts.flatMap(({ logs }) => asJsonList(logs))
}

/**
 * Adds logs that no contract emitted. Later logs get higher indexes, as if a
 * receipt had one log too many.
 */
function withPhantoms(
  pending: PendingBlock,
  phantoms: readonly Phantom[],
): PendingView {
  const logs = receiptLogs(pending.receipts)
  if (phantoms.length === 0) return { ...pending, logs }
  for (const [count, { log, after }] of phantoms.entries())
    logs.splice(after + count, 0, log)
  const numbered = logs.map((log, at) => ({ ...log, logIndex: toQuantity(at) }))
  const ofReceipt = (hash: unknown) =>
    numbered.filter(({ transactionHash }: Json) => transactionHash === hash)
  const receipts = pending.receipts.map((receipt) => ({
    ...receipt,
    logs: ofReceipt(receipt.transactionHash),
  }))
  return { ...pending, receipts, logs: numbered }
}

/**
 * Creates a log that no contract emitted. Its index comes after all logs so
 * far.
 */
export function makePhantom(
  { pending, phantoms }: Sequencer,
  log: Json,
): Phantom {
  const receipts = pending?.receipts ?? []
  const last = asJson(receipts.at(-1))
  const after = receiptLogs(receipts).length
  return {
    after,
    log: {
      address: log.address,
      topics: log.topics ?? [],
      data: log.data ?? '0x',
      blockHash: zeroHash,
      blockNumber: toQuantity(pending?.number ?? 0),
      blockTimestamp: asJson(pending?.block).timestamp,
      transactionHash: toHash(
        log.transactionHash ?? last.transactionHash ?? `0x${'f'.repeat(64)}`,
      ),
      transactionIndex: last.transactionIndex ?? '0x0',
      logIndex: toQuantity(after + phantoms.length),
      removed: false,
    },
  }
}
