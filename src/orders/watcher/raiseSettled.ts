import type { Client, Hash } from 'viem'
import { addAll } from '../../core/addAll.js'
import type { Finality } from '../../core/types.js'
import type { OrderRecord, ProofRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import {
  type Recheck,
  recheckApart,
  unclearError,
} from '../evidence/recheckProofs.js'
import { apply, rulesOf } from '../model/apply.js'
import { collectChanges } from '../model/collectChanges.js'
import { eraseSecrets, loadFinal } from '../model/eraseSecrets.js'
import { loadOrders } from '../model/loadOrders.js'
import { findSettled } from './findSettled.js'
import { recheckConsumed } from './recheckConsumed.js'
import { type Displaced, takeBack } from './takeBack.js'
import { type Apart, openApart } from './tryStep.js'
import { type SureWatch, unknownDue } from './watchState.js'
import { writeUnit } from './writeUnit.js'

/** Name of this step in the list of failures. */
export const finalityStep = 'finalityRaised'

/** Most orders to write in one database transaction. */
const unitSize = 100

/**
 * Stop the step after this many groups of orders about which the node answered
 * nothing: it may be limiting our requests. The next poll begins with other
 * orders.
 */
const mostSilent = 3

/**
 * Updates the finality of settled orders once their block is safe or final.
 * First checks their receipts again. Adds the `fulfil` event to orders that
 * reached `policy.fulfilAt`. At `finalized`, erases the credentials of the
 * order. Uses only safe and final blocks that two polls have confirmed.
 *
 * If the node does not answer about an order, or no longer has its receipt,
 * that order is tried again later and delays no other.
 */
export async function raiseSettled(
  context: OrdersContext,
  watch: SureWatch,
): Promise<void> {
  const { destinations, sure, heads, memory } = watch
  const { safe, finalized } = sure
  const time = heads.latest.timestamp
  const parts = openApart(watch, { step: finalityStep, time })
  const until = (finality: Finality, toBlock: bigint | undefined) =>
    toBlock === undefined ? [] : [{ finality, toBlock }]
  const settled = await findSettled(context, destinations, [
    ...until('included', highest(safe?.number, finalized?.number)),
    ...until('safe', finalized?.number),
  ])
  // If another transfer used a refund's nonce, the refund has to be signed again
  // once that transfer is final. That may be now.
  if (settled.length > 0) memory.due = unknownDue
  const due = settled.filter(({ id }) => !parts.isWaiting(id))
  const doubtful: OrderRecord[] = []
  let silent = 0
  for (let at = 0; at < due.length && silent < mostSilent; at += unitSize) {
    const unit = due.slice(at, at + unitSize)
    const left = await raiseUnit(context, { ...watch, parts }, unit)
    if (left) addAll(doubtful, left)
    else silent++
  }
  const [lowest] = doubtful
    .flatMap(({ settledBlock }) => settledBlock ?? [])
    .sort((one, other) => Number(one - other))
  if (lowest !== undefined)
    await recheckConsumed(context, { ...watch, parts, fromBlock: lowest })
  parts.close()
}

/**
 * Updates the finality of a group of orders.
 * @returns `consumed` orders whose transaction is no longer in its block; they
 * have no stored proof. `undefined` if there are several orders and the node
 * answers about none.
 */
async function raiseUnit(
  context: OrdersContext,
  { client, chainId, heads, sure, lease, parts }: SureWatch & { parts: Apart },
  orders: readonly OrderRecord[],
): Promise<OrderRecord[] | undefined> {
  const ids = orders.map(({ id }) => id)
  const found = await context.store.read((tables) =>
    loadOrders(tables, { ids }),
  )
  const settling = [...found.values()].flatMap(({ order, proofs }) => {
    const proof = proofs.find(
      ({ removed, transactionHash }) =>
        !removed && transactionHash === order.settledHash,
    )
    return settlingOf(order, proof)
  })
  const checked = await recheckUnit(client, settling, { chainId, parts })
  if (!checked) return undefined
  const displaced = checked.flatMap(displacedOf)
  if (displaced.length) await heads.confirm()
  const { timestamp: blockTime } = heads.latest
  await takeBack(context, displaced, { blockTime, lease })
  const same = checked.filter(({ verdict }) => verdict === 'same')
  await writeFinality(
    context,
    { sure, lease },
    same.map(({ proof }) => proof),
  )
  return checked
    .filter(({ verdict }) => verdict !== 'same')
    .flatMap(({ proof: { order } }) =>
      order.state === 'consumed' ? [order] : [],
    )
}

/**
 * Checks again in which blocks orders were settled. If the node does not answer
 * about an order, or has no receipt, the order is tried again later. `consumed`
 * orders without a receipt are checked separately.
 *
 * @returns `undefined` if there are several orders and the node answers about
 * none.
 */
async function recheckUnit(
  client: Client,
  settling: readonly Settling[],
  { chainId, parts }: { chainId: number; parts: Apart },
): Promise<Recheck<Settling>[] | undefined> {
  const failed = new Set<string>()
  const onFailure = ({ order }: Settling, error: unknown): void => {
    failed.add(order.id)
    parts.put(order.id, error, { destination: order })
  }
  try {
    const options = { chainId, onFailure }
    const checked = await recheckApart(client, settling, options)
    for (const { verdict, proof: one } of checked) {
      if (verdict !== 'unclear' || failed.has(one.order.id)) continue
      if (one.order.state !== 'consumed') onFailure(one, unclearError(one))
    }
    return checked
  } catch (error) {
    for (const one of settling) onFailure(one, error)
    return undefined
  }
}

type Settling = {
  transactionHash: Hash
  blockNumber: bigint
  blockHash: Hash | undefined
  order: OrderRecord
  proof: ProofRecord | undefined
}

function settlingOf(
  order: OrderRecord,
  proof: ProofRecord | undefined,
): Settling[] {
  const { settledHash: transactionHash, settledBlock: blockNumber } = order
  if (!transactionHash || blockNumber === undefined) return []
  const { blockHash } = proof ?? {}
  return [{ transactionHash, blockNumber, blockHash, order, proof }]
}

function displacedOf(checked: Recheck<Settling>): Displaced[] {
  const { proof } = checked.proof
  if (!proof) return []
  if (checked.verdict !== 'moved' && checked.verdict !== 'gone') return []
  return [{ ...checked, proof }]
}

async function writeFinality(
  context: OrdersContext,
  { sure: { finalized }, lease }: Pick<SureWatch, 'sure' | 'lease'>,
  settled: readonly Settling[],
): Promise<void> {
  if (!settled.length) return
  const { fulfilAt } = context.policy
  const isFinal = ({ blockNumber }: Settling) =>
    finalized !== undefined && blockNumber <= finalized.number
  await writeUnit(
    context,
    async (tables) => {
      const ids = settled.map(({ order }) => order.id)
      const found = await loadOrders(tables, { ids })
      const collected = collectChanges(found)
      const final = settled.filter(isFinal)
      const sent = await loadFinal(
        tables,
        final.map(({ order }) => order.id),
      )
      for (const one of settled) {
        const { order, proof } = one
        // Another process changed this order meanwhile: the next poll decides.
        if (found.get(order.id)?.order.version !== order.version) continue
        const finality = isFinal(one) ? 'finalized' : 'safe'
        const raised = { kind: 'final', proof, finality, fulfilAt } as const
        collected.apply(order.id, [
          (current) => apply(current, raised, rulesOf(context)),
          ...(isFinal(one) ? [eraseSecrets(sent)] : []),
        ])
      }
      return collected.close()
    },
    { lease },
  )
}

function highest(
  left: bigint | undefined,
  right: bigint | undefined,
): bigint | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return left > right ? left : right
}
