import type { Client } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import { LeaseLostError } from '../../store/errors.js'
import type { Destination, Lease, OrderRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { findOpen } from '../evidence/findOpen.js'
import { recheckApart } from '../evidence/recheckProofs.js'
import { apply, type Rules, rulesOf } from '../model/apply.js'
import { noChanges } from '../model/changes.js'
import { collectChanges, type Step } from '../model/collectChanges.js'
import { eraseFinal } from '../model/eraseSecrets.js'
import { loadOrders } from '../model/loadOrders.js'
import type { Evidence } from '../model/settleOrder.js'
import { findSettled } from './findSettled.js'
import type { Apart } from './tryStep.js'
import { writeUnit } from './writeUnit.js'

type ConsumedWatch = {
  client: Client
  chainId: number
  destinations: readonly Destination[]
  heads: ChainHeads
  lease: Lease | undefined
  /** Single orders that failed; each waits for its own next try. */
  parts: Apart
}

/**
 * Checks again the orders in the state `consumed`: their payment nonce was used
 * without paying the order. They need a check of their own, because they have
 * no stored proof.
 * @returns the orders that could not be decided.
 */
export async function recheckConsumed(
  context: OrdersContext,
  watch: ConsumedWatch & { fromBlock: bigint },
): Promise<OrderRecord[]> {
  const { client, chainId, destinations, fromBlock, parts } = watch
  const settled = await findSettled(context, destinations, [
    { finality: 'included', fromBlock },
    { finality: 'safe', fromBlock },
  ])
  const all = settled.filter(({ state }) => state === 'consumed')
  const consumed = all.filter(({ id }) => !parts.isWaiting(id))
  const checked = await recheckApart(client, consumed.flatMap(seenOf), {
    chainId,
    onFailure: ({ order }, error) =>
      parts.put(order.id, error, { destination: order }),
  })
  const doubtful = checked.filter(
    ({ verdict, proof: { order } }) =>
      verdict !== 'same' && !parts.isWaiting(order.id),
  )
  const undecided = await recheckOrders(
    context,
    watch,
    doubtful.map(({ proof: { order } }) => order),
  )
  return all.filter(
    (order) => parts.isWaiting(order.id) || undecided.includes(order),
  )
}

/**
 * Decides again about `consumed` orders whose transaction is no longer in its
 * block.
 * @returns the orders that could not be decided.
 */
export async function recheckOrders(
  context: OrdersContext,
  watch: ConsumedWatch,
  orders: readonly OrderRecord[],
): Promise<OrderRecord[]> {
  const undecided: OrderRecord[] = []
  await Promise.all(
    orders.map(async (order) => {
      try {
        if (!(await recheckOrder(context, watch, order))) undecided.push(order)
      } catch (error) {
        if (error instanceof LeaseLostError) throw error
        watch.parts.put(order.id, error, { destination: order })
        undecided.push(order)
      }
    }),
  )
  return undecided
}

/**
 * Returns the transaction and block that used the payment nonce of an order, if
 * they are stored.
 */
function seenOf(order: OrderRecord) {
  const { settledHash: transactionHash, settledBlock: blockNumber } = order
  return transactionHash && blockNumber !== undefined
    ? [{ transactionHash, blockNumber, order }]
    : []
}

async function recheckOrder(
  context: OrdersContext,
  { client, heads: { latest, confirm }, lease }: ConsumedWatch,
  order: OrderRecord,
): Promise<boolean> {
  const found = await context.store.read((tables) =>
    loadOrders(tables, { ids: [order.id] }),
  )
  const attempt = found.get(order.id)?.attempt
  if (!attempt) return true
  const stored = { order, attempt }
  // A node whose newest block is below the order's block cannot decide.
  if (latest.number < (order.settledBlock ?? 0n)) return false
  const [{ unused }] = await Promise.all([
    findOpen(context, client, order, [stored], latest.number),
    confirm(),
  ])
  const block = latest.number
  const evidence = await findEvidence(client, {
    ...stored,
    kinds: context.kinds,
    block,
  }).catch(toUnclear)
  // The node does not show which transaction used the nonce: skip this order.
  if (evidence === 'unclear') return false
  const time = unused.get(attempt.nonce)
  const isUnused = time !== undefined && time >= latest.timestamp
  // If the nonce was used and the node does not show by which transaction,
  // leave the decision to a later poll.
  const isSound =
    evidence?.kind === 'expired'
      ? isUnused && evidence.blockTime <= latest.timestamp
      : isUnused || evidence !== undefined
  if (!isSound) return false
  await writeUnit(
    context,
    async (tables) => {
      const fresh = await loadOrders(tables, { ids: [order.id] })
      if (fresh.get(order.id)?.order.version !== order.version)
        return noChanges()
      const collected = collectChanges(fresh)
      collected.apply(
        order.id,
        judgeAgain(evidence, latest.timestamp, rulesOf(context)),
      )
      await eraseFinal(tables, collected, [order.id])
      return collected.close()
    },
    { lease },
  )
  return true
}

function toUnclear(error: unknown): 'unclear' {
  if (error instanceof NodeAnswerError) return 'unclear'
  throw error
}

function judgeAgain(
  evidence: Evidence | undefined,
  blockTime: bigint,
  rules: Rules,
): Step[] {
  const gone = { kind: 'gone', transactions: [], blockTime } as const
  return [
    (stored) => apply(stored, gone, rules),
    (stored) => (evidence ? apply(stored, evidence, rules) : noChanges()),
  ]
}
