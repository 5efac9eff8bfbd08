import type { Client, Hash } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import type { ReadLog } from '../../chain/logs/types.js'
import type { Destination, ProofRecord } from '../../store/types.js'
import { getTransferLogs } from '../evidence/getPaymentLogs.js'
import { isRefundRowId } from '../model/refundRow.js'
import type { OrdersContext } from '../model/types.js'

/** A number of transfers, and their sum in token units. */
export type AuditSum = { count: number; value: bigint }

/** A transfer that only the chain or only the record has, or that differs. */
export type AuditDifference = {
  transactionHash: Hash
  logIndex: number
  blockNumber: bigint
  orderId: string | undefined
  /** Token units; absent if there is no transfer. */
  onChain: bigint | undefined
  onRecord: bigint | undefined
}

/** The sums of chain and record, and their differences. */
export type AuditTally = {
  chain: AuditSum
  captured: AuditSum
  unmatched: AuditSum
  differences: AuditDifference[]
}

/** A range of blocks, with its record. */
export type RecordedRange = {
  fromBlock: bigint
  toBlock: bigint
  recorded: readonly ProofRecord[]
}

/** Parameters of the comparison of one range. */
export type RangeAudit = {
  client: Client
  destination: Destination
  /** Resolves when it is this caller's turn to compute. */
  turn: () => Promise<void>
}

/**
 * Compares the record of a range with the chain, which it reads afterwards.
 * Loads the rows again for payments that differ.
 */
export async function auditRange(
  context: Pick<OrdersContext, 'store' | 'signal'>,
  { client, destination, turn }: RangeAudit,
  { recorded, ...range }: RecordedRange,
): Promise<AuditTally> {
  const logs = await getTransferLogs(context, client, destination, range)
  await turn()
  const moved = logs.flatMap(movementOf)
  await turn()
  const isMeant = (row: ProofRecord) =>
    isTransfer(row, destination) &&
    row.blockNumber >= range.fromBlock &&
    row.blockNumber <= range.toBlock
  return compareRows(context, destination, { moved, recorded, isMeant })
}

/** Compares the record with the transfers on chain, and adds both up. */
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

/** True for a transfer to the destination that was not taken back. */
export function isTransfer(
  row: ProofRecord,
  { token, recipient }: Destination,
): boolean {
  return (
    row.kind !== 'cancel' &&
    !isRefundRowId(row.orderId) &&
    !row.removed &&
    row.token === token &&
    row.recipient === recipient
  )
}

/** Adds one tally to another. */
export function addTally(to: AuditTally, one: AuditTally): void {
  for (const part of ['chain', 'captured', 'unmatched'] as const) {
    to[part].count += one[part].count
    to[part].value += one[part].value
  }
  for (const difference of one.differences) to.differences.push(difference)
}

/** An empty tally. */
export const noTally = (): AuditTally => addUp([], [])

type Movement = Pick<
  ProofRecord,
  'transactionHash' | 'logIndex' | 'blockNumber' | 'value'
> & { blockHash: Hash | undefined }

const hashOf = ({ transactionHash }: { transactionHash: Hash }): Hash =>
  transactionHash

function movementOf(log: ReadLog): Movement[] {
  const event = decodeTokenLog(log)
  return event?.name === 'Transfer' && event.value > 0n
    ? [{ ...log, value: event.value }]
    : []
}

function addUp(
  moved: readonly Movement[],
  recorded: readonly ProofRecord[],
): AuditTally {
  return {
    chain: sumOf(moved),
    captured: sumOf(recorded.filter(({ kind }) => kind === 'capture')),
    unmatched: sumOf(recorded.filter(({ kind }) => kind === 'unmatched')),
    differences: findDifferences(moved, recorded),
  }
}

function sumOf(rows: readonly { value: bigint }[]): AuditSum {
  const value = rows.reduce((sum, row) => sum + row.value, 0n)
  return { count: rows.length, value }
}

/** Equal means the same value at the same place of the same block. */
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
        orderId: onRecord?.orderId,
        onChain: onChain?.value,
        onRecord: onRecord?.value,
      },
    ]
  })
}
