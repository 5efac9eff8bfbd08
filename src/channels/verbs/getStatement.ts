import type { Hash, Hex } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getHeads } from '../../chain/state/getHeads.js'
import { divideExactly } from '../../core/divideExactly.js'
import { type MovementAction, parseMovementId } from '../../core/movementIds.js'
import {
  clientOf,
  getGasPaid,
  type MinedTransaction,
} from '../../orders/engine.js'
import type { ChannelRecord, StoreReader } from '../../store/types.js'
import { getChannels } from '../contract/getChannel.js'
import { channelLogs } from '../movements/channelLogs.js'
import { decodeMovementTerms } from '../movements/movementTerms.js'
import { findMovementIds } from '../record/noteMovements.js'
import type { ChannelsContext } from './context.js'
import {
  type ChannelParameters,
  loadChannel,
  parseChannelId,
} from './listChannels.js'
import { type Channel, showChannel } from './showChannel.js'

/** One transaction of a deposit, claim or refund of a channel. */
export type StatementLine = {
  action: MovementAction
  /** As `channelMoved` events and the ledger name it. */
  movementId: string
  transactionHash: Hash
  blockNumber: bigint
  /** Time of the block in Unix seconds. */
  blockTime: bigint
  /**
   * Base units that it moved for this channel, also of a claim of many. 0 if
   * the transaction reverted.
   */
  value: bigint
  /**
   * Wei that it cost you; 0 if somebody else sent it. A claim's gas is divided
   * among the channels that it claimed from.
   */
  gas: bigint
}

/** The account of a channel. `sums` and `elsewhere` add up to `end`. */
export type ChannelStatement = {
  channel: Channel
  /** The newest block that it includes. */
  blockNumber: bigint
  /** The transactions on record, the oldest first. */
  lines: readonly StatementLine[]
  /** Sums of the lines: base units, and wei for `gas`. */
  sums: { deposited: bigint; claimed: bigint; refunded: bigint; gas: bigint }
  /**
   * What others moved, in base units. `deposited`: their deposits minus the
   * payer's withdrawals. `claimed`: by claims that are not on record.
   */
  elsewhere: { deposited: bigint; claimed: bigint }
  /**
   * The state at `blockNumber`, in base units. `charged`: by the record now.
   * `balance`: deposits minus refunds and withdrawals; claims do not lower it.
   * `unclaimed`: `charged` minus `claimed`.
   */
  end: { balance: bigint; charged: bigint; claimed: bigint; unclaimed: bigint }
}

/** Movements whose receipts are asked for at once. */
const pageSize = 50

/** Implements `statement` of `Channels`. */
export async function getStatement(
  channels: ChannelsContext,
  parameters: ChannelParameters,
): Promise<ChannelStatement> {
  const id = parseChannelId(parameters)
  const { context } = channels
  const found = await loadChannel(channels, id)
  const client = clientOf(context, found)
  const { latest } = await getHeads(client, context.policy)
  const { number: blockNumber } = latest
  const [chain] = await getChannels(client, { channelIds: [id], blockNumber })
  if (!chain) throw new Error('getChannels leaves no channel out')
  const lines = new Map<string, StatementLine>()
  const ids = await context.store.read((tables) => findMovementIds(tables, id))
  for (let from = 0; from < ids.length; from += pageSize) {
    const orderIds = ids.slice(from, from + pageSize)
    const page = await context.store.read((tables) =>
      loadPage(tables, orderIds),
    )
    const hashes = page.flatMap((movement) => movement.hashes)
    const mined = await getGasPaid(client, hashes)
    for (const movement of page)
      for (const hash of movement.hashes) {
        const one = mined.get(hash)
        if (one) addLines(lines, movement, linesOf(movement, id, one))
        else if (movement.proven.has(hash)) throw lacksReceipt(hash)
      }
  }
  const counted = [...lines.values()]
    .filter((line) => line.blockNumber <= blockNumber)
    .sort((one, other) => Number(one.blockNumber - other.blockNumber))
  const row = await loadChannel(channels, id)
  return closeStatement(row, { chain, blockNumber, lines: counted })
}

/**
 * Adds a transaction once, for all that it moved: it can be the proof of two
 * movements, for example if two claims of the same charges were on their way.
 */
function addLines(
  lines: Map<string, StatementLine>,
  { own }: SentMovement,
  added: readonly StatementLine[],
): void {
  for (const line of added) {
    const { action, transactionHash } = line
    const key = `${action} ${transactionHash}`
    if (own.has(transactionHash) || !lines.has(key)) lines.set(key, line)
  }
}

/** A movement on record, and the transactions that may have made it. */
type SentMovement = {
  id: string
  action: MovementAction
  /** The channels whose money it was to move. */
  channelIds: readonly Hex[]
  hashes: readonly Hash[]
  /** Transactions of this shop: it paid their gas. */
  own: ReadonlySet<Hash>
  /** Transactions that were seen in a block. */
  proven: ReadonlySet<Hash>
}

function lacksReceipt(hash: Hash): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_getTransactionReceipt',
    problem: `has no receipt of ${hash}, which was in a block`,
  })
}

async function loadPage(
  tables: StoreReader,
  orderIds: readonly string[],
): Promise<SentMovement[]> {
  const attempts = await tables.attempts.find({ orderIds })
  const sent = await tables.transactions.find({ orderIds })
  const proofs = await tables.proofs.find({ orderIds })
  return orderIds.flatMap((id) => {
    const action = parseMovementId(id)?.action
    const attempt = attempts.find(({ orderId }) => orderId === id)
    if (!action || !attempt) return []
    const terms = decodeMovementTerms(attempt.terms)
    const channelIds =
      terms.action === 'claim'
        ? terms.rows.map((row) => row.channelId)
        : [terms.channelId]
    const own = sent
      .filter(({ movements }) => movements.some((one) => one.orderId === id))
      .flatMap(({ hash }) => hash ?? [])
    const proven = proofs
      .filter(({ orderId, removed }) => orderId === id && !removed)
      .map(({ transactionHash }) => transactionHash)
    const hashes = [...new Set([...own, ...proven])]
    const sets = { own: new Set(own), proven: new Set(proven) }
    return [{ id, action, channelIds, hashes, ...sets }]
  })
}

const events = {
  deposit: 'deposited',
  claim: 'claimed',
  refund: 'refunded',
} as const

/** Builds the line of a transaction; none if it left the channel out. */
function linesOf(
  { id, action, channelIds, own }: SentMovement,
  channelId: Hex,
  mined: MinedTransaction,
): StatementLine[] {
  const moved = channelLogs(mined, events[action])
    .map(({ event }) => event)
    .filter((event) => channelIds.includes(event.channelId))
  const movedIds = channelIds.filter((one) =>
    moved.some((event) => event.channelId === one),
  )
  // A transaction that reverted, or only settled, was sent for all of them.
  const shares = movedIds.length > 0 ? movedIds : channelIds
  const place = shares.indexOf(channelId)
  if (place < 0) return []
  const { transactionHash, blockNumber, blockTime, fee } = mined
  const value = moved
    .filter((event) => event.channelId === channelId)
    .reduce((sum, event) => sum + event.value, 0n)
  const isOurs = own.has(transactionHash)
  const gas = isOurs ? divideExactly(fee, place, shares.length) : 0n
  const where = { transactionHash, blockNumber, blockTime }
  return [{ action, movementId: id, ...where, value, gas }]
}

function closeStatement(
  row: ChannelRecord,
  {
    chain: { balance, claimed },
    blockNumber,
    lines,
  }: Pick<ChannelStatement, 'blockNumber' | 'lines'> & {
    chain: { balance: bigint; claimed: bigint }
  },
): ChannelStatement {
  const sumOf = (action: MovementAction) =>
    lines
      .filter((line) => line.action === action)
      .reduce((sum, { value }) => sum + value, 0n)
  const sums = {
    deposited: sumOf('deposit'),
    claimed: sumOf('claim'),
    refunded: sumOf('refund'),
    gas: lines.reduce((sum, { gas }) => sum + gas, 0n),
  }
  // Receipts and state are of different chains, as during a reorganization.
  if (sums.claimed > claimed)
    throw new NodeAnswerError({
      method: 'eth_getTransactionReceipt',
      problem: `shows claims of ${sums.claimed} units, and the contract ${claimed} at block ${blockNumber}: read again`,
    })
  const charged = row.charged > claimed ? row.charged : claimed
  return {
    channel: showChannel(row),
    blockNumber,
    lines,
    sums,
    elsewhere: {
      deposited: balance - sums.deposited + sums.refunded,
      claimed: claimed - sums.claimed,
    },
    end: { balance, charged, claimed, unclaimed: charged - claimed },
  }
}
