import type { Client } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { LeaseLostError } from '../../store/errors.js'
import type { Destination, Lease, OrderRecord } from '../../store/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { findOpen } from '../evidence/findOpen.js'
import type { ChainHeads } from '../evidence/getHeads.js'
import { recheckApart } from '../evidence/recheckProofs.js'
import { noChanges } from '../model/changes.js'
import { collectChanges, type Step } from '../model/collectChanges.js'
import { eraseFinal } from '../model/eraseSecrets.js'
import { loadOrders } from '../model/loadOrders.js'
import { type Evidence, settleOrder } from '../model/settleOrder.js'
import type { OrdersContext } from '../model/types.js'
import { unsettleOrder } from '../model/unsettleOrder.js'
import { findSettled } from './findSettled.js'
import type { Apart } from './tryStep.js'
import { writeUnit } from './writeUnit.js'

/**
 * Checks the `consumed` orders again, whose nonce was spent without a payment.
 * They need a check of their own, because they have no proof on record.
 *
 * @returns true when every one of them was decided and written.
 */
export async function recheckConsumed(
  context: OrdersContext,
  watch: {
    client: Client
    destination: Destination
    heads: ChainHeads
    lease: Lease | undefined
    fromBlock: bigint
    /** Puts single orders that fail aside. */
    apart: Apart
  },
): Promise<boolean> {
  const { client, destination, fromBlock, apart } = watch
  const settled = [
    ...(await findSettled(context, destination, 'included', { fromBlock })),
    ...(await findSettled(context, destination, 'safe', { fromBlock })),
  ]
  const all = settled.filter(({ state }) => state === 'consumed')
  const consumed = all.filter(({ id }) => !apart.isWaiting(id))
  const checked = await recheckApart(client, consumed.flatMap(seenOf), {
    chainId: destination.chainId,
    onFailure: ({ order }, error) => apart.put(order.id, error),
  })
  const doubtful = checked.filter(
    ({ verdict, proof: { order } }) =>
      verdict !== 'same' && !apart.isWaiting(order.id),
  )
  const clear = await Promise.all(
    doubtful.map(({ proof: { order } }) =>
      recheckOrder(context, watch, order).catch((error: unknown) => {
        if (error instanceof LeaseLostError) throw error
        apart.put(order.id, error)
        return false
      }),
    ),
  )
  const isWhole = all.every(({ id }) => !apart.isWaiting(id))
  return isWhole && clear.every((isClear) => isClear)
}

/** Where the nonce of an order was spent, if the record says so. */
function seenOf(order: OrderRecord) {
  const { settledHash: transactionHash, settledBlock: blockNumber } = order
  return transactionHash && blockNumber !== undefined
    ? [{ transactionHash, blockNumber, order }]
    : []
}

async function recheckOrder(
  context: OrdersContext,
  {
    client,
    destination,
    heads: { latest, confirm },
    lease,
  }: Parameters<typeof recheckConsumed>[1],
  order: OrderRecord,
): Promise<boolean> {
  const found = await context.store.read((tables) =>
    loadOrders(tables, { ids: [order.id] }),
  )
  const attempt = found.get(order.id)?.attempt
  if (!attempt) return true
  const stored = { order, attempt }
  // A node behind the settling block cannot decide.
  if (latest.number < (order.settledBlock ?? 0n)) return false
  const [{ unused }] = await Promise.all([
    findOpen(context, client, destination, [stored], latest.number),
    confirm(),
  ])
  const block = latest.number
  const evidence = await findEvidence(client, {
    ...stored,
    kinds: context.kinds,
    block,
  }).catch(toUnclear)
  // The node does not show what spent the nonce: continue with the others.
  if (evidence === 'unclear') return false
  const time = unused.get(attempt.nonce)
  const isUnused = time !== undefined && time >= latest.timestamp
  // If the nonce is spent and the node does not show by what, a later look may.
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
        judgeAgain(evidence, {
          at: context.now(),
          blockTime: latest.timestamp,
          policy: context.policy,
        }),
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
  facts: Pick<OrdersContext, 'policy'> & { at: bigint; blockTime: bigint },
): Step[] {
  return [
    (stored) => unsettleOrder(stored, { ...facts, transactions: [] }),
    (stored) =>
      evidence ? settleOrder(stored, evidence, facts.at) : noChanges(),
  ]
}
