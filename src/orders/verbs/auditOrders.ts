import type { Client, Hash } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { wait } from '../../core/wait.js'
import type { Destination, ProofRecord } from '../../store/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { underSignal } from '../evidence/endingContext.js'
import { getHeads } from '../evidence/getHeads.js'
import { getTransfers } from '../evidence/getPaymentLogs.js'
import { parseBlockNumber } from '../evidence/parseBlockNumber.js'
import type { OrdersContext } from '../model/types.js'
import { findFirstBlock } from '../watcher/findFirstBlock.js'
import { findStandingProofs } from '../watcher/findSettled.js'

/** What `audit` takes. */
export type AuditParameters = {
  /** @default the block of the oldest order, or an older one on record */
  fromBlock?: bigint | undefined
  /** At most the newest block. @default the newest block */
  toBlock?: bigint | undefined
  /** Ends the audit, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

const members: MembersOf<AuditParameters> = {
  fromBlock: true,
  toBlock: true,
  signal: true,
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
export type DestinationAudit = {
  destination: Destination
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
  /** Chain and record agree to the unit, in the blocks each destination names. */
  ok: boolean
  destinations: readonly DestinationAudit[]
}

/** `audit` of `DestinationOrders`: reads the record first, then the chain. */
export async function auditOrders(
  context: OrdersContext,
  parameters: AuditParameters = {},
): Promise<AuditReport> {
  checkMembers(parameters, members)
  const range = {
    fromBlock: parseBlockNumber(parameters.fromBlock, 'fromBlock'),
    toBlock: parseBlockNumber(parameters.toBlock, 'toBlock'),
  }
  return underSignal(context, async (it) => {
    const destinations = await Promise.all(
      it.destinations.map((destination) =>
        auditDestination(it, destination, range),
      ),
    )
    const ok = destinations.every(({ differences }) => differences.length === 0)
    return { ok, destinations }
  })
}

async function auditDestination(
  context: OrdersContext,
  destination: Destination,
  given: AuditParameters,
): Promise<DestinationAudit> {
  const { store, signal } = context
  const client = clientOf(context, destination)
  const { latest } = await getHeads(client, context.policy)
  const first =
    given.fromBlock ??
    (await findFirstBlock(context, client, destination, latest))
  const isMeant = (row: ProofRecord) =>
    isTransfer(row, destination) &&
    row.blockNumber >= first &&
    (given.toBlock === undefined || row.blockNumber <= given.toBlock)
  const kept = await store.read((tables) =>
    findStandingProofs(tables, [destination], first, signal),
  )
  // Read the chain after the record, so that it is at least as far.
  const toBlock = await findLast(context, client, {
    wanted: given.toBlock,
    recorded: kept.filter(isMeant).at(-1)?.blockNumber ?? 0n,
  })
  const fromBlock =
    given.fromBlock === undefined && first > toBlock ? toBlock : first
  const range = { fromBlock, toBlock }
  const logs = await getTransfers(context, client, destination, range)
  const moved = logs.flatMap(movementOf)
  const recorded = await refresh(context, destination, {
    moved,
    recorded: kept.filter(isMeant),
    isMeant,
  })
  return {
    destination,
    ...range,
    chain: sumOf(moved),
    captured: sumOf(recorded.filter(({ kind }) => kind === 'capture')),
    unmatched: sumOf(recorded.filter(({ kind }) => kind === 'unmatched')),
    differences: compare(moved, recorded),
  }
}

const isTransfer = (
  row: ProofRecord,
  { token, recipient }: Destination,
): boolean =>
  row.kind !== 'cancel' &&
  !row.removed &&
  row.token === token &&
  row.recipient === recipient

/** How often we read the head while it is behind the record. */
const mostLooks = 4

/** The last block to read. Waits a little if the node is behind the record. */
async function findLast(
  { policy, signal }: OrdersContext,
  client: Client,
  { wanted, recorded }: { wanted: bigint | undefined; recorded: bigint },
): Promise<bigint> {
  for (let look = 1; ; look++) {
    const { number } = (await getHeads(client, policy)).latest
    // Limited to the head: blocks beyond it would cost request after request.
    if (wanted !== undefined && wanted <= number) return wanted
    if (recorded <= number || look === mostLooks) return number
    await wait(125 * 2 ** look, signal)
    signal?.throwIfAborted()
  }
}

/** The record, with changes to the differing payments since we read it. */
async function refresh(
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
): Promise<readonly ProofRecord[]> {
  const hashes = new Set(
    compare(moved, recorded).map(({ transactionHash }) => transactionHash),
  )
  if (hashes.size === 0) return recorded
  const fresh = await store.read(({ proofs }) =>
    proofs.find({ hashes: [...hashes], chainId }),
  )
  return [
    ...recorded.filter(({ transactionHash }) => !hashes.has(transactionHash)),
    ...fresh.filter(isMeant),
  ]
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
