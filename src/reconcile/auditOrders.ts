import type { Hash } from 'viem'
import { readHeads } from '../forks/readHeads.js'
import { readProofs } from '../forks/readSettled.js'
import { readCursor } from '../forks/watchState.js'
import { decodeTokenLog } from '../logs/decodeTokenLog.js'
import type { ReadLog } from '../logs/logTypes.js'
import type { OrdersContext } from '../records/types.js'
import type { ProofRecord, Scope } from '../store/types.js'
import { clientOf } from './clientOf.js'
import { readBlockNumber } from './readBlockNumber.js'
import { readTransfers } from './readPaymentLogs.js'

/** What `audit` takes. */
export type AuditParameters = {
  /** @default the first block that was ever reconciled */
  fromBlock?: bigint | undefined
  /** At most the newest block of the chain. @default the last one */
  toBlock?: bigint | undefined
}

/** Token units, and in how many transfers. */
export type AuditSum = { count: number; value: bigint }

/** Something only the chain or only the record has, or not alike. */
export type AuditDifference = {
  transactionHash: Hash
  logIndex: number
  blockNumber: bigint
  orderId: string | undefined
  /** Token units; absent where there is nothing. */
  onChain: bigint | undefined
  onRecord: bigint | undefined
}

/** What reached one recipient in one token, beside the record. */
export type ScopeAudit = {
  scope: Scope
  fromBlock: bigint
  toBlock: bigint
  /** All that reached the recipient. */
  chain: AuditSum
  /** Payments of orders on record. */
  captured: AuditSum
  /** Payments without an order on record. */
  unmatched: AuditSum
  differences: readonly AuditDifference[]
}

/** What reached the recipients beside what is on record. */
export type AuditReport = {
  /** Chain and record agree to the unit. */
  ok: boolean
  scopes: readonly ScopeAudit[]
}

/**
 * Compares what reached the recipients on the chain with what is on record, to
 * the unit, and lists every difference. Changes nothing: `reconcile` does.
 *
 * Transfers of nothing count for neither side.
 *
 * @throws {@link InvalidFieldError} when a block is none.
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * a node refuses, or does not answer.
 */
export async function auditOrders(
  context: OrdersContext,
  parameters: AuditParameters = {},
): Promise<AuditReport> {
  const range = {
    fromBlock: readBlockNumber(parameters.fromBlock, 'fromBlock'),
    toBlock: readBlockNumber(parameters.toBlock, 'toBlock'),
  }
  const scopes = await Promise.all(
    context.scopes.map((scope) => auditScope(context, scope, range)),
  )
  const ok = scopes.every(({ differences }) => differences.length === 0)
  return { ok, scopes }
}

async function auditScope(
  context: OrdersContext,
  scope: Scope,
  parameters: AuditParameters,
): Promise<ScopeAudit> {
  const client = clientOf(context, scope)
  const range = await findRange(context, scope, parameters)
  const { fromBlock, toBlock } = range
  const [logs, proofs] = await Promise.all([
    readTransfers(context, client, scope, range),
    context.store.read((tables) => readProofs(tables, [scope], fromBlock)),
  ])
  const recorded = proofs.filter(
    ({ kind, blockNumber }) => kind !== 'cancel' && blockNumber <= toBlock,
  )
  const moved = logs.flatMap(movementOf)
  return {
    scope,
    ...range,
    chain: sumOf(moved),
    captured: sumOf(recorded.filter(({ kind }) => kind === 'capture')),
    unmatched: sumOf(recorded.filter(({ kind }) => kind === 'unmatched')),
    differences: compare(moved, recorded),
  }
}

async function findRange(
  { store, policy, tokens }: OrdersContext,
  scope: Scope,
  { fromBlock, toBlock }: AuditParameters,
): Promise<{ fromBlock: bigint; toBlock: bigint }> {
  const cursor = await store.read((tables) => readCursor(tables, scope))
  const latest = async () => {
    const { latest } = await readHeads(clientOf({ tokens }, scope), policy)
    return latest.number
  }
  const end = toBlock ?? cursor?.last.number
  // Blocks that are not there yet would be asked for one range after another.
  const head = toBlock === undefined && end !== undefined ? end : await latest()
  const last = end !== undefined && end < head ? end : head
  return { fromBlock: fromBlock ?? cursor?.from ?? last, toBlock: last }
}

type Movement = Pick<
  ProofRecord,
  'transactionHash' | 'logIndex' | 'blockNumber' | 'value'
> & { blockHash: Hash | undefined }

function movementOf(log: ReadLog): Movement[] {
  const event = decodeTokenLog(log)
  return event?.name === 'Transfer' && event.value > 0n
    ? [{ ...log, value: event.value }]
    : []
}

function sumOf(rows: readonly { value: bigint }[]): AuditSum {
  const value = rows.reduce((sum, row) => sum + row.value, 0n)
  return { count: rows.length, value }
}

/** Alike is what moved as much at the same place of the same block. */
function compare(
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
