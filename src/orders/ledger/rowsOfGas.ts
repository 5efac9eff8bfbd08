import type { Client, Hash } from 'viem'
import { divideExactly } from '../../core/divideExactly.js'
import { nextTurn } from '../../core/wait.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import { movementsOf, ordersOf } from '../../store/movements.js'
import type {
  OrderRecord,
  ProofRecord,
  StoreReader,
  Submitter,
  TransactionRecord,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { readerOf } from '../evidence/clientOf.js'
import { getGasPaid, type MinedTransaction } from '../evidence/getGasPaid.js'
import { type Cause, causeOf, finalityOf, loadOrdersOf } from './causeOf.js'
import { describeCoin } from './describeToken.js'
import { findFirst } from './findFirst.js'
import {
  finalityAt,
  type GasPaid,
  type ReadHeads,
  rowOfGas,
} from './planRows.js'
import type { LedgerRange, LedgerRow } from './types.js'

/** Transactions on a page, whose receipts are requested in one batch. */
const pageSize = 100

/** Transactions to load in each step of the binary search for a time. */
const lookSize = 20

type GasOptions = {
  readHeads: ReadHeads
  /**
   * If true, asks the node for the receipt of every transaction; if false, only
   * for those that the store has no proof of.
   */
  isExact: boolean
}

/**
 * Yields the gas that a submitter paid in a time range: for orders of this
 * context, and, if the submitter is one of its recipients, for fillers (empty
 * transactions that only use up an account nonce).
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its chain was reorganized meanwhile.
 */
export async function* rowsOfGas(
  context: OrdersContext,
  submitter: Submitter,
  range: LedgerRange,
  { readHeads, isExact }: GasOptions,
): AsyncGenerator<LedgerRow> {
  const client = readerOf(context, submitter.chainId)
  const unit = describeCoin(context, submitter.chainId)
  for await (const page of transactionPages(context, submitter, range)) {
    const own = page.filter(({ recipient }) => recipient !== undefined)
    const asked = own.flatMap((one) => hashesToAsk(one, isExact))
    const mined = await getGasPaid(client, asked)
    for (const one of own) {
      const paid = gasOf(one, mined)
      if (!paid || paid.blockTime < range.from) continue
      if (paid.blockTime >= range.to) return
      // If the node was asked for this transaction, take the finality from the
      // node, as the rows of its transfers do.
      const finality = mined.has(paid.transactionHash)
        ? finalityAt(await readHeads(client), paid.blockNumber)
        : paid.finality
      yield rowOfGas(submitter, unit, { ...paid, finality })
    }
    if (page.some(({ proof }) => proof && proof.blockTime >= range.to)) return
  }
}

/**
 * One order's part of the gas at an account nonce, where at most one transaction
 * is mined.
 */
type SentNonce = {
  hashes: readonly Hash[]
  /**
   * Index among the orders' proofs at this nonce, and their number; 0 and 1 if
   * there is none.
   */
  place: number
  count: number
  /** The stored payment or cancellation that one of these transactions made. */
  proof: ProofRecord | undefined
  cause: Cause
  /**
   * The recipient in whose books the gas is entered. Absent if that recipient
   * belongs to another shop.
   */
  recipient: GasPaid['recipient'] | undefined
  finality: GasPaid['finality']
}

function hashesToAsk(
  { proof, hashes }: SentNonce,
  isExact: boolean,
): readonly Hash[] {
  if (!proof) return hashes
  return isExact ? [proof.transactionHash] : []
}

function gasOf(
  { hashes, place: at, count, proof, cause, recipient, finality }: SentNonce,
  mined: ReadonlyMap<Hash, MinedTransaction>,
): (GasPaid & Pick<MinedTransaction, 'transactionHash'>) | undefined {
  if (recipient === undefined) return undefined
  const asked = hashes.flatMap((hash) => mined.get(hash) ?? [])[0]
  if (asked) {
    const fee = divideExactly(asked.fee, at, count)
    const { transactionHash, blockNumber, blockTime } = asked
    const place = { transactionHash, blockNumber, blockTime }
    return { ...place, fee, cause, recipient, finality }
  }
  if (!proof) return undefined
  const { transactionHash, blockNumber, blockTime } = proof
  const fee = proof.gasUsed * proof.effectiveGasPrice
  const place = { transactionHash, blockNumber, blockTime }
  return { ...place, fee, cause, recipient, finality }
}

/** Yields the transactions that a submitter sent since a time, page by page. */
async function* transactionPages(
  context: OrdersContext,
  submitter: Submitter,
  { from }: LedgerRange,
): AsyncGenerator<SentNonce[]> {
  const { store, signal } = context
  let fromNonce =
    from === 0n ? 0 : await findFirstNonce(context, submitter, from)
  for (;;) {
    await nextTurn()
    signal?.throwIfAborted()
    const { rows, sent } = await store.read(async (tables) => {
      const rows = await tables.transactions.find({
        sentBy: submitter,
        fromNonce,
        limit: pageSize,
      })
      return { rows, sent: await describeSent(context, tables, rows) }
    })
    const last = rows.at(-1)?.nonce
    if (last === undefined) return
    const isEnd = rows.length < pageSize
    // The page may end between two transactions with the same account nonce, so
    // the next page starts with this nonce again.
    const isWhole = isEnd || last === rows[0]?.nonce
    yield [...sent]
      .filter(([nonce]) => isWhole || nonce < last)
      .flatMap(([, parts]) => parts)
    if (isEnd) return
    fromNonce = isWhole ? last + 1 : last
  }
}

/**
 * Groups transactions by account nonce, and loads what the store has about
 * each.
 */
async function describeSent(
  context: OrdersContext,
  tables: StoreReader,
  rows: readonly TransactionRecord[],
): Promise<ReadonlyMap<number, SentNonce[]>> {
  const standing = await findStanding(tables, rows)
  const orders = await loadOrdersOf(tables, [...standing, ...movementsOf(rows)])
  const sent = new Map<number, SentNonce[]>()
  for (const nonce of new Set(rows.map((row) => row.nonce))) {
    const group = rows.filter((row) => row.nonce === nonce)
    const hashes = group.flatMap(({ hash }) => hash ?? [])
    const proofs = standing.filter(({ transactionHash }) =>
      hashes.includes(transactionHash),
    )
    // Books the gas to the orders, not to other transfers in the transaction.
    const ofOrders = proofs.filter(({ orderId }) => orderId !== undefined)
    const parts = ofOrders.length > 0 ? ofOrders : [proofs[0]]
    const describe = (proof: ProofRecord | undefined, place: number) => {
      const orderId = proof?.orderId ?? ordersOf(group)[0]
      const order = orders.get(orderId ?? '')
      return {
        hashes,
        place,
        count: parts.length,
        proof,
        cause: causeOf(order),
        recipient: ownerOf(context, group, order),
        finality: proof && finalityOf(proof, order),
      }
    }
    sent.set(nonce, parts.map(describe))
  }
  return sent
}

async function findStanding(
  { proofs }: Pick<StoreReader, 'proofs'>,
  rows: readonly TransactionRecord[],
): Promise<ProofRecord[]> {
  const hashes = rows.flatMap(({ hash }) => hash ?? [])
  const [first] = rows
  if (!first || hashes.length === 0) return []
  const found = await proofs.find({ hashes, chainId: first.chainId })
  return found.filter(({ removed }) => !removed)
}

/**
 * Returns the recipient in whose books the gas of an account nonce is entered;
 * `undefined` if that recipient belongs to another shop.
 */
function ownerOf(
  { destinations, recipients }: OrdersContext,
  [row]: readonly TransactionRecord[],
  order: OrderRecord | undefined,
): GasPaid['recipient'] | undefined {
  if (order)
    return isInDestinations(order, destinations) ? order.recipient : undefined
  return row && recipients.includes(row.account) ? row.account : undefined
}

/**
 * Finds an account nonce before which all transactions are older than a time.
 */
async function findFirstNonce(
  context: OrdersContext,
  submitter: Submitter,
  time: bigint,
): Promise<number> {
  const client = readerOf(context, submitter.chainId)
  const nonce = await findFirst(async (number) => {
    const mined = await findMinedTime(context, client, submitter, number)
    return mined !== undefined && mined < time
  })
  return Number(nonce)
}

/**
 * Returns the block time of a mined transaction at this account nonce, or at
 * one soon after it.
 */
async function findMinedTime(
  { store }: OrdersContext,
  client: Client,
  submitter: Submitter,
  nonce: bigint,
): Promise<bigint | undefined> {
  const { rows, standing } = await store.read(async (tables) => {
    const rows = await tables.transactions.find({
      sentBy: submitter,
      fromNonce: Number(nonce),
      limit: lookSize,
    })
    return { rows, standing: await findStanding(tables, rows) }
  })
  const [proof] = standing
  if (proof) return proof.blockTime
  const mined = await getGasPaid(
    client,
    rows.flatMap(({ hash }) => hash ?? []),
  )
  return [...mined.values()][0]?.blockTime
}
