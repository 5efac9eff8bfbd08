import type { Client, Hash } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import type { ReadLog } from '../../chain/logs/types.js'
import type { Destination, ProofRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { getTransferLogs } from '../evidence/getPaymentLogs.js'
import {
  getRefundLogs,
  type SpentByRecipient,
} from '../evidence/getRefundLogs.js'
import { isOfBooks } from '../model/movementEvents.js'
import { isRefundRowId } from '../model/refundRow.js'
import { findPayment } from '../watcher/adoptUnknown.js'

/** Number of transfers, and their sum in token units. */
export type AuditSum = { count: number; value: bigint }

/**
 * A transfer that only the chain has, or only the store, or that differs
 * between the two.
 */
export type AuditDifference = {
  transactionHash: Hash
  logIndex: number
  blockNumber: bigint
  orderId: string | undefined
  /**
   * Value in token units on chain and in the store; each is absent if that side
   * has no transfer.
   */
  onChain: bigint | undefined
  onRecord: bigint | undefined
}

/** Sums on chain and in the store for some blocks, and their differences. */
export type AuditTally = {
  chain: AuditSum
  captured: AuditSum
  unmatched: AuditSum
  refunded: AuditSum
  differences: AuditDifference[]
}

export type RecordedRange = {
  fromBlock: bigint
  toBlock: bigint
  recorded: readonly ProofRecord[]
}

export type RangeAudit = {
  client: Client
  destination: Destination
  /**
   * Resolves when this caller may compute. Callers take turns, so that large
   * audits do not block the event loop for long.
   */
  turn: () => Promise<void>
}

/**
 * Compares the stored payments of a block range with the chain, which it reads
 * second. Loads payments that differ again, because a worker may have written
 * them meanwhile.
 */
export async function auditRange(
  context: Pick<OrdersContext, 'store' | 'signal'>,
  { client, destination, turn }: RangeAudit,
  { recorded, ...range }: RecordedRange,
): Promise<AuditTally> {
  const part = { token: destination.token, destinations: [destination] }
  const [logs, spent] = await Promise.all([
    getTransferLogs(context, client, part, range),
    getRefundLogs(context, client, part, range),
  ])
  await turn()
  const refunds = await pickRefunds(context, destination, spent)
  const moved = [...logs.flatMap(movementOf), ...refunds]
  await turn()
  const isMeant = (row: ProofRecord) =>
    isTransfer(row, destination) &&
    row.blockNumber >= range.fromBlock &&
    row.blockNumber <= range.toBlock
  return compareRows(context, destination, { moved, recorded, isMeant })
}

/** Compares stored payments with the transfers on chain, and sums up both. */
export async function compareRows(
  { store }: Pick<OrdersContext, 'store'>,
  { chainId }: Destination,
  {
    moved,
    recorded,
    isMeant,
  }: {
    moved: readonly Movement[]
    recorded: readonly ProofRecord[]
    isMeant: (row: ProofRecord) => boolean
  },
): Promise<AuditTally> {
  const hashes = [...new Set(findDifferences(moved, recorded).map(hashOf))]
  if (hashes.length === 0) return addUp(moved, recorded)
  const changed = new Set(hashes)
  const fresh = await store.read(({ proofs }) =>
    proofs.find({ hashes, chainId }),
  )
  const kept = recorded.filter((row) => !changed.has(hashOf(row)))
  return addUp(moved, [...kept, ...fresh.filter(isMeant)])
}

/**
 * True if the row stands for a transfer in a block: a payment to the
 * destination or a refund of it, not removed by a reorg.
 */
export function isTransfer(
  row: ProofRecord,
  { token, recipient }: Destination,
): boolean {
  return (
    row.kind !== 'cancel' &&
    !row.removed &&
    isOfBooks(row) &&
    row.token === token &&
    row.recipient === recipient
  )
}

export function addTally(to: AuditTally, one: AuditTally): void {
  for (const part of ['chain', 'captured', 'unmatched', 'refunded'] as const) {
    to[part].count += one[part].count
    to[part].value += one[part].value
  }
  for (const difference of one.differences) to.differences.push(difference)
}

export const noTally = (): AuditTally => addUp([], [])

type Movement = Pick<
  ProofRecord,
  'transactionHash' | 'logIndex' | 'blockNumber' | 'value'
> & {
  blockHash: Hash | undefined
  /** True for a transfer that the recipient sent, to refund a payment. */
  isRefund?: boolean | undefined
}

const hashOf = ({ transactionHash }: { transactionHash: Hash }): Hash =>
  transactionHash

function movementOf(log: ReadLog): Movement[] {
  const event = decodeTokenLog(log)
  return event?.name === 'Transfer' && event.value > 0n
    ? [{ ...log, logIndex: Number(log.logIndex), value: event.value }]
    : []
}

/**
 * Picks the refunds of our orders from the transfers that the recipient sent,
 * even if the store lacks these refunds.
 */
async function pickRefunds(
  context: Pick<OrdersContext, 'store'>,
  destination: Destination,
  spent: readonly SpentByRecipient[],
): Promise<Movement[]> {
  const nonces = spent.map(({ nonce }) => nonce)
  const known = nonces.length
    ? await context.store.read(({ attempts }) => attempts.find({ nonces }))
    : []
  const refunds = await Promise.all(
    spent.map(async (one): Promise<Movement[]> => {
      const attempt = known.find(({ nonce }) => nonce === one.nonce)
      const isOurs = attempt
        ? isRefundRowId(attempt.orderId)
        : (await findPayment(context, destination, one)) !== undefined
      const logIndex = Number(one.log.logIndex)
      return isOurs
        ? [{ ...one.log, logIndex, value: one.value, isRefund: true }]
        : []
    }),
  )
  return refunds.flat()
}

function addUp(
  moved: readonly Movement[],
  recorded: readonly ProofRecord[],
): AuditTally {
  return {
    chain: sumOf(moved.filter(({ isRefund }) => !isRefund)),
    captured: sumOf(
      recorded.filter(
        ({ kind, orderId }) => kind === 'capture' && !isRefundRowId(orderId),
      ),
    ),
    refunded: sumOf(recorded.filter(({ orderId }) => isRefundRowId(orderId))),
    unmatched: sumOf(recorded.filter(({ kind }) => kind === 'unmatched')),
    differences: findDifferences(moved, recorded),
  }
}

function sumOf(rows: readonly { value: bigint }[]): AuditSum {
  const value = rows.reduce((sum, row) => sum + row.value, 0n)
  return { count: rows.length, value }
}

/**
 * Finds transfers that are not equal on chain and in the store. Equal transfers
 * have the same value, log index and block.
 */
function findDifferences(
  moved: readonly Movement[],
  recorded: readonly ProofRecord[],
): AuditDifference[] {
  const keyOf = (row: Movement) => `${row.transactionHash}/${row.logIndex}`
  const records = new Map(recorded.map((row) => [keyOf(row), row]))
  const movements = new Map(moved.map((row) => [keyOf(row), row]))
  const rows = [...new Map<string, Movement>([...records, ...movements])]
  return rows.flatMap(([key, row]) => {
    const onChain = movements.get(key)
    const onRecord = records.get(key)
    const isAlike =
      onChain?.value === onRecord?.value &&
      onChain?.blockHash === onRecord?.blockHash
    if (isAlike) return []
    const { transactionHash, logIndex, blockNumber } = row
    return [
      {
        transactionHash,
        logIndex,
        blockNumber,
        orderId: onRecord?.orderId?.split('\t')[0],
        onChain: onChain?.value,
        onRecord: onRecord?.value,
      },
    ]
  })
}
