import type { Client } from 'viem'
import { readAhead } from '../../chain/logs/readAhead.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { type BlockHead, getBlockHead } from '../../chain/rpc/requestNode.js'
import { findBlockAt } from '../../chain/state/findBlockAt.js'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import { getTokenBalance } from '../../chain/state/getTokenBalance.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { getMovements, type TransferLog } from '../evidence/getMovements.js'
import { settlersOf } from '../model/kindOf.js'
import { auditPace } from '../verbs/planAudit.js'
import { findFirstBlock } from '../watcher/findFirstBlock.js'
import { type Cause, causeOf, loadOrdersOf } from './causeOf.js'
import { describeToken } from './describeToken.js'
import {
  finalityAt,
  type ReadHeads,
  rowOfBalance,
  rowsOfMovement,
} from './planRows.js'
import type { LedgerRange, LedgerRow } from './types.js'

/** Block ranges that are read at the same time. */
const mostRanges = 4

/**
 * Yields every transfer to and from a recipient in a time range, with the
 * balance before the first as `opening` row and after the last as `closing`
 * row. Starts no earlier than the block of the oldest order, and ends no later
 * than the newest block.
 *
 * @throws {@link NodeAnswerError} when the transfers do not add up to the
 * balances, or the chain was reorganized meanwhile.
 * @throws {@link LogRangeError} {@link NodeError} when the node refuses, does
 * not answer, or has no state of the first or last block.
 */
export async function* rowsOnChain(
  context: OrdersContext,
  destination: Destination,
  range: LedgerRange,
  { readHeads }: { readHeads: ReadHeads },
): AsyncGenerator<LedgerRow> {
  const client = clientOf(context, destination)
  const heads = await readHeads(client)
  const span = await findSpan(context, { client, destination, heads }, range)
  if (!span) return
  const unit = await describeToken(context, destination)
  const { before, last } = span
  const balanceAfter = ({ number }: BlockHead) =>
    getTokenBalance(client, destination, number)
  const placeOf = ({ number, timestamp }: BlockHead) => ({
    blockNumber: number,
    blockTime: timestamp,
    finality: finalityAt(heads, number),
  })
  let balance = await balanceAfter(before)
  yield rowOfBalance('opening', destination, unit, {
    balance,
    ...placeOf(before),
  })
  const moves = readMoves(context, client, destination, {
    fromBlock: before.number + 1n,
    toBlock: last.number,
  })
  const settlers = settlersOf(context)
  for await (const { blockHash: _, ...move } of moves) {
    const { cause, ...place } = move
    const finality = finalityAt(heads, move.blockNumber)
    for (const row of rowsOfMovement(
      destination,
      unit,
      { ...place, finality },
      cause,
      { settlers },
    )) {
      balance += row.net
      yield row
    }
  }
  const shown = await balanceAfter(last)
  // If a reorg replaced the newest block, balance and transfers are from
  // different chains, so check that before comparing.
  await heads.confirm()
  if (shown !== balance)
    throw new NodeAnswerError({
      method: 'eth_getLogs',
      problem: `gives transfers that add up to ${balance} units, and balanceOf is ${shown} at block ${last.number}`,
    })
  yield rowOfBalance('closing', destination, unit, {
    balance: shown,
    ...placeOf(last),
  })
}

type Reading = {
  client: Client
  destination: Destination
  heads: ChainHeads
}

/** Finds the last block before the time range, and the last block in it. */
async function findSpan(
  context: OrdersContext,
  { client, destination, heads: { latest } }: Reading,
  { from, to }: LedgerRange,
): Promise<{ before: BlockHead; last: BlockHead } | undefined> {
  if (latest.timestamp < from || from >= to) return undefined
  const isOpen = latest.timestamp < to
  const end = isOpen
    ? latest.number + 1n
    : await findBlockAt(client, to, latest)
  const oldest = await findFirstBlock(context, client, destination, latest)
  const wanted = from === 0n ? oldest : await findBlockAt(client, from, latest)
  const first = wanted > oldest ? wanted : oldest
  if (first >= end) return undefined
  const [before, last] = await Promise.all([
    getBlock(client, first > 0n ? first - 1n : 0n),
    isOpen ? latest : getBlock(client, end - 1n),
  ])
  return { before, last }
}

async function getBlock(client: Client, number: bigint): Promise<BlockHead> {
  const block = await getBlockHead(client, number)
  if (block) return block
  throw new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `has no block ${number}`,
  })
}

type RecordedMove = TransferLog & { cause: Cause | undefined }

/**
 * Reads transfers, several block ranges ahead of the caller. Adds what each
 * transfer was made for, if the store knows it.
 */
async function* readMoves(
  { store, signal }: OrdersContext,
  client: Client,
  destination: Destination,
  { fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint },
): AsyncGenerator<RecordedMove> {
  const pace = auditPace()
  const ahead = readAhead(
    (range: { fromBlock: bigint; toBlock: bigint }, end) =>
      getMovements(client, destination, range, end),
    signal,
  )
  try {
    let next = fromBlock
    for (;;) {
      while (ahead.size < mostRanges && next <= toBlock) {
        const wanted = next + pace.blocks - 1n
        const end = wanted < toBlock ? wanted : toBlock
        ahead.start({ fromBlock: next, toBlock: end })
        next = end + 1n
      }
      const taken = await ahead.take()
      if (!taken) return
      const { piece, answer } = taken
      pace.note(answer.length, piece.toBlock - piece.fromBlock + 1n)
      // Read the store after the chain, so that it knows the orders of all
      // transfers that were read.
      yield* await addCauses({ store }, destination, answer)
    }
  } finally {
    ahead.close()
  }
}

async function addCauses(
  { store }: Pick<OrdersContext, 'store'>,
  { chainId, token, recipient }: Destination,
  moves: readonly TransferLog[],
): Promise<RecordedMove[]> {
  const hashes = [...new Set(moves.map((move) => move.transactionHash))]
  if (hashes.length === 0) return []
  const { found, orders } = await store.read(async (tables) => {
    const found = await tables.proofs.find({ hashes, chainId })
    return { found, orders: await loadOrdersOf(tables, found) }
  })
  const own = found.filter(
    (row) =>
      row.kind === 'capture' &&
      !row.removed &&
      row.token === token &&
      row.recipient === recipient,
  )
  return moves.map((move) => {
    const proof = own.find(
      ({ transactionHash, logIndex, blockHash }) =>
        transactionHash === move.transactionHash &&
        logIndex === move.logIndex &&
        blockHash === move.blockHash,
    )
    return { ...move, cause: proof && causeOf(orders.get(proof.orderId ?? '')) }
  })
}
