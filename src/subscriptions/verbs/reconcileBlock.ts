import type { Client, Hash } from 'viem'
import { loadOrders, settleTransaction } from '../../orders/engine.js'
import type { StoreReader } from '../../store/types.js'
import { type FoundCharge, findCharges } from '../charges/findCharges.js'
import { decodePermission } from '../permission/permissionJson.js'
import { markOf } from '../permission/spendCalls.js'
import { hashSpendPermission } from '../permission/spendPermissionTypedData.js'
import { chargeIdOf, nonceOfMark } from '../schedule/chargeIds.js'
import { factsOf, planCharge } from '../schedule/orderRow.js'
import type { StoredSubscription } from '../schedule/showSubscription.js'
import { loadSubscriptions, type SubscriptionsContext } from './context.js'

/** What `reconcile` found on the chain and wrote to the database. */
export type ReconciledCharges = {
  /** Number of stored charges that turned out to be paid. */
  settled: number
  /** Number of charges on the chain that were not stored, and now are. */
  adopted: number
}

/** Where the chain shows a charge that the database may lack. */
export type ChargeLook = {
  client: Client
  /** Hash of the permission (EIP-712). */
  hash: string
  blockNumber: bigint
  now: bigint
}

/** Writes to the database the charges of one permission in one block. */
export async function reconcileBlock(
  subscriptions: SubscriptionsContext,
  look: ChargeLook,
): Promise<ReconciledCharges> {
  const { context } = subscriptions
  const done = { settled: 0, adopted: 0 }
  const found = await context.store.read((tables) =>
    findByHash(tables, subscriptions, look.hash),
  )
  if (!found) return done
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
      if (
        await settleKnown(subscriptions, look, {
          ...charge,
          orderId: attempt.orderId,
        })
      )
        done.settled++
    } else if (await adopt(subscriptions, found, look, { ...charge, mark }))
      done.adopted++
  }
  return done
}

async function findByHash(
  tables: StoreReader,
  { context }: SubscriptionsContext,
  hash: string,
): Promise<StoredSubscription | undefined> {
  const nonces = [`0x${hash.slice(2).toLowerCase()}` as const]
  const [attempt] = await tables.attempts.find({ nonces })
  if (!attempt) return undefined
  const [found] = await loadSubscriptions(tables, context, [attempt.orderId])
  return found
}

/** Marks a stored charge as paid if the database does not know that yet. */
async function settleKnown(
  { context }: SubscriptionsContext,
  look: ChargeLook,
  { orderId, transactionHash }: { orderId: string; transactionHash: Hash },
): Promise<boolean> {
  const ids = [orderId]
  const stored = await context.store.read(async (tables) =>
    (await loadOrders(tables, { ids })).get(orderId),
  )
  if (!stored || stored.order.state === 'captured') return false
  return settleTransaction(context, look.client, { stored, transactionHash })
}

/** Stores a charge that was found on the chain and is not in the database. */
async function adopt(
  { context }: SubscriptionsContext,
  { row, held: { order } }: StoredSubscription,
  look: ChargeLook,
  charge: FoundCharge & { mark: string },
): Promise<boolean> {
  const { mark, value, periodStart, periodEnd, transactionHash } = charge
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
  const adopted = {
    order: {
      ...planned.order,
      requested: undefined,
      sendDue: undefined,
      lookDue: undefined,
    },
    attempt: { ...planned.attempt, spendable: false, signature: undefined },
  }
  return settleTransaction(context, look.client, {
    stored: {
      order: { ...adopted.order, version: 1, position: 0n },
      attempt: { ...adopted.attempt, version: 1 },
    },
    transactionHash,
    insert: async (tables) => {
      await tables.orders.insert([adopted.order])
      await tables.attempts.insert([adopted.attempt])
    },
  })
}

/**
 * Number of earlier periods whose charge ids {@link nameOf} compares with a
 * mark.
 */
const mostPeriods = 100n

/**
 * Returns the id of the scheduled charge that has this mark. If no recent
 * period matches, returns the mark itself as id.
 */
function nameOf(mark: string, newest: bigint): string {
  const oldest = newest > mostPeriods ? newest - mostPeriods : 1n
  for (let number = newest; number >= oldest; number--)
    if (markOf(chargeIdOf(number)) === mark) return chargeIdOf(number)
  return mark
}
