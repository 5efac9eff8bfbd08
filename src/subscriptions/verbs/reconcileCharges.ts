import type { Address, Client } from 'viem'
import { getLogs } from '../../chain/logs/getLogs.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { word } from '../../core/words.js'
import { clientOf } from '../../orders/evidence/clientOf.js'
import { findBlockAt } from '../../orders/evidence/findBlockAt.js'
import { findEvidence } from '../../orders/evidence/findEvidence.js'
import { type ChainHeads, getHeads } from '../../orders/evidence/getHeads.js'
import { parseBlockNumber } from '../../orders/evidence/parseBlockNumber.js'
import { writeChanges } from '../../orders/model/changes.js'
import { collectChanges } from '../../orders/model/collectChanges.js'
import { loadOrders } from '../../orders/model/loadOrders.js'
import { observeFailure } from '../../orders/model/observeFailure.js'
import type { StoredOrder } from '../../orders/model/storedOrder.js'
import { settleFindings } from '../../orders/watcher/settleFindings.js'
import type { Destination, StoreReader } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { type FoundCharge, findCharges } from '../charges/findCharges.js'
import { usedTopic } from '../charges/findUses.js'
import { decodePermission } from '../permission/permissionJson.js'
import { markOf } from '../permission/spendCalls.js'
import { hashSpendPermission } from '../permission/spendPermissionTypedData.js'
import { chargeIdOf, nonceOfMark } from '../schedule/chargeIds.js'
import { factsOf, planCharge } from '../schedule/orderRow.js'
import type { StoredSubscription } from '../schedule/showSubscription.js'
import {
  loadChargesCursor,
  saveChargesCursor,
  settledBlock,
} from './chargesCursor.js'
import { findManagers, withoutProof } from './chargesOnRecord.js'
import { loadSubscriptions, type SubscriptionsDesk } from './desk.js'

/** What `reconcile` takes. */
export type ReconcileChargesParameters = {
  /** First block to read. @default the block of the oldest subscription */
  fromBlock?: bigint | undefined
}

const members: MembersOf<ReconcileChargesParameters> = { fromBlock: true }

/** What `reconcile` found missing on record, and wrote. */
export type ReconciledCharges = {
  /** Charges on record that were not known to be paid. */
  settled: number
  /** Charges that only the chain knew. */
  adopted: number
}

/**
 * Reads the charges of all subscriptions from the chain, by the manager's events
 * and the inputs of their transactions, and writes those that the record lacks.
 *
 * @param isContinued true to begin at the stored cursor, and to move it on.
 * @throws the failure of a destination, once all others are read.
 */
export async function reconcileCharges(
  desk: SubscriptionsDesk,
  parameters: ReconcileChargesParameters,
  isContinued = false,
): Promise<ReconciledCharges> {
  checkMembers(parameters, members)
  const { fromBlock } = parameters
  parseBlockNumber(fromBlock, 'fromBlock')
  const total = { settled: 0, adopted: 0 }
  const failures: unknown[] = []
  for (const destination of desk.context.destinations) {
    try {
      const found = await reconcileOne(desk, destination, {
        fromBlock,
        isContinued,
      })
      total.settled += found.settled
      total.adopted += found.adopted
    } catch (error) {
      desk.context.signal?.throwIfAborted()
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return total
}

/** Most blocks whose logs are in memory at a time. */
const mostBlocks = 1_000_000n

async function reconcileOne(
  desk: SubscriptionsDesk,
  destination: Destination,
  {
    fromBlock: given,
    isContinued,
  }: { fromBlock: bigint | undefined; isContinued: boolean },
): Promise<ReconciledCharges> {
  const { context } = desk
  const done = { settled: 0, adopted: 0 }
  const { managers, oldest } = await findManagers(desk, destination)
  if (oldest === undefined) return done
  const client = clientOf(context, destination)
  const heads = await getHeads(client, context.policy)
  const { latest } = heads
  const cursor = isContinued
    ? await loadChargesCursor(context, destination)
    : undefined
  const first = given ?? cursor ?? (await findBlockAt(client, oldest, latest))
  let failedAt: bigint | undefined
  for (let from = first; from <= latest.number; from += mostBlocks) {
    const last = from + mostBlocks - 1n
    const toBlock = last < latest.number ? last : latest.number
    const range = { client, heads, managers, fromBlock: from, toBlock }
    const found = await reconcileRange(desk, destination, range)
    done.settled += found.settled
    done.adopted += found.adopted
    failedAt ??= found.failedAt
    if (isContinued)
      await saveChargesCursor(
        context,
        destination,
        highest(first, lowest(failedAt ?? toBlock + 1n, settledBlock(heads))),
      )
  }
  return done
}

const lowest = (one: bigint, other: bigint) => (one < other ? one : other)
const highest = (one: bigint, other: bigint) => (one > other ? one : other)

/** Blocks to read, and the managers whose charges they may have. */
type ChargesRange = {
  client: Client
  heads: ChainHeads
  managers: readonly Address[]
  fromBlock: bigint
  toBlock: bigint
}

async function reconcileRange(
  desk: SubscriptionsDesk,
  destination: Destination,
  { client, heads, managers, fromBlock, toBlock }: ChargesRange,
): Promise<ReconciledCharges & { failedAt: bigint | undefined }> {
  const { context } = desk
  const { latest, confirm } = heads
  const done = { settled: 0, adopted: 0 }
  let failedAt: bigint | undefined
  const logs = await Promise.all(
    managers.map((address) =>
      getLogs(client, {
        address,
        topics: [usedTopic, null, null, `0x${word(destination.recipient)}`],
        fromBlock,
        toBlock,
        // All blocks at once: what a node refuses is narrowed.
        maxBlockRange: toBlock - fromBlock + 1n,
        signal: context.signal,
      }),
    ),
  )
  await confirm()
  const unproven = await withoutProof(desk, destination, logs.flat())
  const places = new Map(
    unproven.map((log) => [`${log.topics[1]} ${log.blockNumber}`, log]),
  )
  for (const { topics, blockNumber } of places.values()) {
    const look = {
      client,
      hash: String(topics[1]),
      blockNumber,
      now: latest.timestamp,
      toBlock: latest.number,
    }
    try {
      const found = await reconcileBlock(desk, destination, look)
      done.settled += found.settled
      done.adopted += found.adopted
    } catch (error) {
      context.signal?.throwIfAborted()
      // One that fails holds up no other. The next run reads it again.
      failedAt = lowest(failedAt ?? blockNumber, blockNumber)
      observeFailure(context, 'schedule.failed', {
        about: { ...destination, what: 'reconcile' },
        error,
      })
    }
  }
  return { ...done, failedAt }
}

type Look = {
  client: Client
  /** Hash of the permission. */
  hash: string
  blockNumber: bigint
  now: bigint
  toBlock: bigint
}

/** Writes the charges of one permission in one block. */
async function reconcileBlock(
  desk: SubscriptionsDesk,
  destination: Destination,
  look: Look,
): Promise<ReconciledCharges> {
  const { context } = desk
  const done = { settled: 0, adopted: 0 }
  const found = await context.store.read((tables) =>
    findByHash(tables, desk, look.hash),
  )
  if (found?.row.recipient !== destination.recipient) return done
  const permission = decodePermission(found.row.permission)
  const { client, blockNumber } = look
  const charges = await findCharges(client, {
    permission,
    fromBlock: blockNumber,
    toBlock: blockNumber,
  })
  for (const charge of charges) {
    const { mark, logIndex } = charge
    if (mark === undefined || logIndex === undefined) continue
    const nonces = [nonceOfMark(hashSpendPermission(permission), mark)]
    const [attempt] = await context.store.read(({ attempts }) =>
      attempts.find({ nonces }),
    )
    if (attempt) {
      if (await settleKnown(desk, look, attempt.orderId)) done.settled++
    } else if (await adopt(desk, found, look, { ...charge, mark }))
      done.adopted++
  }
  return done
}

async function findByHash(
  tables: StoreReader,
  { context }: SubscriptionsDesk,
  hash: string,
): Promise<StoredSubscription | undefined> {
  const nonces = [`0x${hash.slice(2).toLowerCase()}` as const]
  const [attempt] = await tables.attempts.find({ nonces })
  if (!attempt) return undefined
  const [found] = await loadSubscriptions(tables, context, [attempt.orderId])
  return found
}

/** Settles a charge on record that is not known to be paid. */
async function settleKnown(
  desk: SubscriptionsDesk,
  look: Look,
  orderId: string,
): Promise<boolean> {
  const { context } = desk
  const ids = [orderId]
  const stored = await context.store.read(async (tables) =>
    (await loadOrders(tables, { ids })).get(orderId),
  )
  if (!stored || stored.order.state === 'captured') return false
  return settle(desk, look, stored, async () => undefined)
}

async function settle(
  { context }: SubscriptionsDesk,
  { client, toBlock }: Look,
  stored: StoredOrder,
  insert: Parameters<typeof writeAgain<void>>[1],
): Promise<boolean> {
  const { kinds } = context
  const evidence = await findEvidence(client, {
    ...stored,
    kinds,
    block: toBlock,
  })
  if (evidence?.kind !== 'capture') return false
  return writeAgain(context, async (tables) => {
    await insert(tables)
    const { id: orderId, attempt } = stored.order
    const loaded = await loadOrders(tables, { ids: [orderId] })
    if (loaded.get(orderId)?.order.state === 'captured') return false
    const collected = collectChanges(loaded)
    const findings = [{ orderId, attempt, evidence }]
    await settleFindings(context, tables, { collected, findings })
    await writeChanges(tables, collected.close())
    return true
  })
}

/** Writes a charge that only the chain knows. */
async function adopt(
  desk: SubscriptionsDesk,
  { row, held: { order } }: StoredSubscription,
  look: Look,
  { mark, value, periodStart, periodEnd }: FoundCharge & { mark: string },
): Promise<boolean> {
  const permission = decodePermission(row.permission)
  const { start, period: length } = permission.message
  const number = (periodStart - start) / length + 1n
  const period = { number, start: periodStart, end: periodEnd }
  const planned = planCharge(factsOf(order, permission, look.now), {
    chargeId: nameOf(mark, number),
    value,
    period,
    signature: '',
  })
  const charge = {
    order: {
      ...planned.order,
      requested: undefined,
      sendDue: undefined,
      lookDue: undefined,
    },
    attempt: { ...planned.attempt, spendable: false, signature: undefined },
  }
  const stored = {
    order: { ...charge.order, version: 1, position: 0n },
    attempt: { ...charge.attempt, version: 1 },
    attempts: [],
    proofs: [],
  }
  return settle(desk, look, stored, async (tables) => {
    await tables.orders.insert([charge.order])
    await tables.attempts.insert([charge.attempt])
  })
}

/** Most periods whose scheduled charge may have had this mark. */
const mostPeriods = 100n

/** The id of a scheduled charge with this mark, or else the mark itself. */
function nameOf(mark: string, newest: bigint): string {
  const oldest = newest > mostPeriods ? newest - mostPeriods : 1n
  for (let number = newest; number >= oldest; number--)
    if (markOf(chargeIdOf(number)) === mark) return chargeIdOf(number)
  return mark
}
