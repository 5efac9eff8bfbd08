import type { Hash } from 'viem'
import { namesBlock } from '../../chain/logs/standsInBlock.js'
import { askInChunks } from '../../chain/rpc/askInChunks.js'
import {
  type BlockTime,
  getBlockTimes,
} from '../../chain/state/getBlockTimes.js'
import { getReceipts } from '../../chain/state/getReceipt.js'
import {
  getSendingCosts,
  getSubmitterHead,
  getSubmitterSafe,
  type SendingCosts,
  type SubmitterHead,
  type SubmitterSafe,
} from '../../chain/state/getSubmitterHead.js'
import { getTransactionCount } from '../../chain/state/getTransactionCount.js'
import { hasCode } from '../../chain/state/hasCode.js'
import { placeReceipts } from '../../chain/state/placeReceipts.js'
import { addAll } from '../../core/addAll.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { ordersOf } from '../../store/movements.js'
import type { TransactionRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { InFlight } from './inFlight.js'
import { nonceName, type SubmitterState } from './submitterState.js'

export type SubmitterView = SubmitterHead & {
  /** Receipts of our transactions in flight that are in mined blocks. */
  receipts: ReadonlyMap<Hash, ProofReceipt>
  /** Receipts of our transactions in flight that are in the pending block. */
  preconfirmed: ReadonlyMap<Hash, ProofReceipt>
  /** Times of the blocks of these receipts in Unix seconds, by block number. */
  blockTimes: ReadonlyMap<bigint, bigint>
  /**
   * True when no receipts were requested yet, because more transactions are
   * mined with each poll and it is better to wait.
   */
  isEarly: boolean
} & SubmitterQuestions

/**
 * What only some polls need. Each is requested when first asked for, and at
 * most once a poll.
 */
type SubmitterQuestions = {
  /**
   * The account's transaction count at `pending`. Some nodes include their
   * mempool in it, others pre-confirmed transactions.
   */
  pendingCount(): Promise<number>
  costs(): Promise<SendingCosts>
  safe(): Promise<SubmitterSafe>
}

/** Most receipts to request before we know whether they exist. */
const guesses = 16

/**
 * Requests the newest block, the account's transaction count and receipts.
 * Requests a few receipts in the same turn of the event loop. Requests many, or
 * those of transactions that no block has included for a while, only once the
 * count shows that they exist.
 *
 * If the node cannot return a receipt, its account nonce waits for the next
 * try.
 *
 * @param options.isSending true to request in the same turn what sending needs.
 * @param options.isBlockwise true on a chain that has no pending block.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer about the account or its newest block.
 */
export async function getSubmitterView(
  { policy }: Pick<OrdersContext, 'policy'>,
  submitter: SubmitterState,
  {
    isSending,
    isBlockwise = false,
  }: { isSending: boolean; isBlockwise?: boolean | undefined },
): Promise<SubmitterView> {
  const { reader, wallet, inFlight, pace } = submitter
  const { account } = wallet.submitter
  const isLong = isMany(submitter) && !pace.isQuick
  const isLate = isLong || (isBlockwise && isStuck(submitter))
  const heading = getSubmitterHead(reader, account)
  const questions: SubmitterQuestions = {
    pendingCount: once(() =>
      getTransactionCount(reader, { address: account, block: 'pending' }),
    ),
    costs: once(() => getSendingCosts(reader, account)),
    safe: once(async () => {
      const { head } = await heading
      return getSubmitterSafe(reader, account, {
        head,
        safe: policy.blocks?.safe,
      })
    }),
  }
  // Start these requests now, so that they join the same batch. The code that
  // needs an answer handles its failure.
  if (isSending)
    for (const ask of [questions.pendingCount, questions.costs])
      ask().catch(() => undefined)
  const [head, early, isContract] = await Promise.all([
    heading,
    askReceipts(submitter, isLate ? [] : inFlight.rows),
    inFlight.isCodeOld() ? hasCode(reader, account) : undefined,
  ])
  if (isContract !== undefined) inFlight.rememberCode(isContract)
  const passed = isLate ? findPassed(submitter, head) : []
  const isEarly = isLong && isFilling(submitter, head, passed.length)
  pace.rememberCount(head.count)
  const [late, shown] = await Promise.all([
    askReceipts(submitter, isEarly ? [] : passed),
    isLong && !isBlockwise ? askPreconfirmed(submitter, head) : [],
  ])
  const asked = [...early, ...late, ...shown]
  putFailedAside(submitter, asked)
  const shownBy = asked.flatMap(({ receipt }) => receipt ?? [])
  // Of many, compare with the newest block alone, to save requests.
  const placed = await placeReceipts(reader, shownBy, {
    newest: head.head,
    isBrief: isLong,
  })
  const receipts = new Map<Hash, ProofReceipt>()
  const preconfirmed = new Map<Hash, ProofReceipt>()
  for (const receipt of placed.receipts) {
    const place = namesBlock(receipt.blockHash) ? receipts : preconfirmed
    place.set(lower(receipt.transactionHash), receipt)
  }
  const blockTimes = await timeBlocks(submitter, receipts, placed.blocks)
  return { ...head, ...questions, receipts, preconfirmed, blockTimes, isEarly }
}

function once<answer>(ask: () => Promise<answer>): () => Promise<answer> {
  let asked: Promise<answer> | undefined
  return () => {
    asked ??= ask()
    return asked
  }
}

/**
 * True when so many transactions are in flight that receipts are requested only
 * once they exist.
 */
export function isMany({
  inFlight,
}: {
  inFlight: Pick<InFlight, 'rows'>
}): boolean {
  return inFlight.rows.length > guesses
}

/**
 * True when many polls found no news, or a transaction was replaced. False
 * unless we signed all transactions in flight: a wallet may have used another
 * nonce than ours.
 */
function isStuck({ inFlight: { rows }, pace }: SubmitterState): boolean {
  const isSigned = rows.every(({ raw }) => raw !== undefined)
  return isSigned && (pace.isPatient || rows.some(({ bump }) => bump > 0))
}

function findPassed(
  { inFlight, nonces }: SubmitterState,
  { count }: SubmitterHead,
): TransactionRecord[] {
  const { ignoresNonce } = nonces.value
  return inFlight.rows.filter(({ nonce }) => nonce < count || ignoresNonce)
}

/**
 * True while the count rises and fewer than half of the transactions are mined.
 * If we wait, hundreds are settled in a few steps instead of one step per
 * block.
 */
function isFilling(
  { inFlight, pace: { count: before } }: SubmitterState,
  { count }: SubmitterHead,
  passed: number,
): boolean {
  const isRising = before !== undefined && count > before
  return isRising && 2 * passed < inFlight.rows.length
}

type AskedReceipt = {
  row: TransactionRecord
  receipt?: ProofReceipt | undefined
  error?: unknown
}

/**
 * Requests each receipt separately, because the node may be unable to return
 * one of them. Sends all requests in one turn of the event loop, so that a
 * transport can batch them. Leaves out nonces that wait after a failure.
 */
function askReceipts(
  { reader, aside }: SubmitterState,
  rows: readonly TransactionRecord[],
): Promise<AskedReceipt[]> {
  const due = rows.filter(
    ({ nonce }) => !aside.isWaiting(nonceName('settle', nonce)),
  )
  const sent = due.flatMap((row) => (row.hash ? { row, hash: row.hash } : []))
  return askInChunks(sent, ({ row, hash }) =>
    getReceipts(reader, [hash]).then(
      ([receipt]): AskedReceipt => ({ row, receipt }),
      (error: unknown): AskedReceipt => ({ row, error }),
    ),
  )
}

/**
 * Makes a nonce wait for its next try if a request for a receipt failed and no
 * other transaction at the nonce has a receipt.
 */
function putFailedAside(
  { aside }: SubmitterState,
  asked: readonly AskedReceipt[],
): void {
  const shown = asked.filter(({ receipt }) => receipt !== undefined)
  const done = new Set(shown.map(({ row }) => row.nonce))
  for (const { row, error } of asked) {
    if (error === undefined || done.has(row.nonce)) continue
    done.add(row.nonce)
    aside.put(nonceName('settle', row.nonce), error, ordersOf([row])[0])
  }
}

/** Most receipts of the pending block to request at once. */
const mostShown = 100

/**
 * Requests receipts of the pending block. A node executes transactions in nonce
 * order, so this asks about the lowest nonce whose receipt no poll has found,
 * and continues only while it finds receipts. On a chain without such receipts
 * this costs one request a poll.
 */
async function askPreconfirmed(
  submitter: SubmitterState,
  { count }: SubmitterHead,
): Promise<AskedReceipt[]> {
  const { inFlight } = submitter
  const open = inFlight.rows.filter(
    ({ nonce, hash }) => nonce >= count && hash && !inFlight.isShown(hash),
  )
  const lowest = open.filter(({ nonce }) => nonce === open[0]?.nonce)
  const found: AskedReceipt[] = []
  for (let size = lowest.length; found.length < open.length; size = mostShown) {
    const rows = open.slice(found.length, found.length + size)
    const asked = await askReceipts(submitter, rows)
    addAll(found, asked)
    const isShown = asked.some(({ receipt }) => receipt !== undefined)
    if (!isShown || asked.length < rows.length) break
  }
  return found
}

function lower(hash: Hash): Hash {
  return hash.toLowerCase() as Hash
}

/**
 * Gets the times of blocks. Some nodes omit the time in receipts; then requests
 * the block, unless it is known.
 */
async function timeBlocks(
  { reader }: SubmitterState,
  receipts: ReadonlyMap<Hash, ProofReceipt>,
  known: ReadonlyMap<bigint, BlockTime>,
): Promise<ReadonlyMap<bigint, bigint>> {
  const times = new Map<bigint, bigint>()
  for (const [number, { timestamp }] of known) times.set(number, timestamp)
  const unknown: bigint[] = []
  for (const { blockNumber, blockTime, logs } of receipts.values()) {
    if (times.has(blockNumber)) continue
    if (blockTime !== undefined) times.set(blockNumber, blockTime)
    else if (logs.length > 0) unknown.push(blockNumber)
  }
  const asked = unknown.filter((number) => !times.has(number))
  for (const [number, { timestamp }] of await getBlockTimes(reader, asked))
    times.set(number, timestamp)
  return times
}
