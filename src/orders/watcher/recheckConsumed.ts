import type { Client } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { LeaseLostError } from '../../store/errors.js'
import type { Destination, Lease, OrderRecord } from '../../store/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { findOpen } from '../evidence/findOpen.js'
import type { ChainHeads } from '../evidence/readHeads.js'
import { joinChanges, noChanges } from '../model/changes.js'
import { readFiles, type Step, takeSteps } from '../model/orderFiles.js'
import { type Evidence, settleOrder } from '../model/settleOrder.js'
import type { OrdersContext } from '../model/types.js'
import { unsettleOrder } from '../model/unsettleOrder.js'
import type { Apart } from './openApart.js'
import { readSettled } from './readSettled.js'
import { recheckApart } from './recheckProofs.js'
import { writeUnit } from './writeUnit.js'

/**
 * Looks again at the orders whose nonce was spent without paying them: they
 * have no proof on record that could be looked for.
 *
 * @returns whether all that could be told was written.
 */
export async function recheckConsumed(
  context: OrdersContext,
  watch: {
    client: Client
    destination: Destination
    heads: ChainHeads
    lease: Lease | undefined
    fromBlock: bigint
    /** Takes single orders that fail. */
    apart: Apart
  },
): Promise<boolean> {
  const { client, destination, fromBlock, apart } = watch
  const settled = [
    ...(await readSettled(context, destination, 'included', { fromBlock })),
    ...(await readSettled(context, destination, 'safe', { fromBlock })),
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

/** Where the nonce of an order was spent, as far as that was kept. */
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
  const files = await context.store.read((tables) =>
    readFiles(tables, [order.id]),
  )
  const attempt = files
    .get(order.id)
    ?.attempts.find(({ number }) => number === order.attempt)
  if (!attempt) return true
  const file = { order, attempt }
  // A node behind the settling block cannot tell.
  if (latest.number < (order.settledBlock ?? 0n)) return false
  const [{ unused }] = await Promise.all([
    findOpen(client, destination, [file], latest.number),
    confirm(),
  ])
  const block = latest.number
  const evidence = await findEvidence(client, { ...file, block }).catch(
    toUnclear,
  )
  // The node shows no cause for this order: the others go on.
  if (evidence === 'unclear') return false
  const time = unused.get(attempt.nonce)
  const isUnused = time !== undefined && time >= latest.timestamp
  // Spent, and the node does not show by what: another look may.
  const isSound =
    evidence?.kind === 'expired'
      ? isUnused && evidence.blockTime <= latest.timestamp
      : isUnused || evidence !== undefined
  if (!isSound) return false
  await writeUnit(
    context,
    async (tables) => {
      const fresh = (await readFiles(tables, [order.id])).get(order.id)
      if (fresh?.order.version !== order.version) return noChanges()
      return joinChanges([
        takeSteps(
          fresh,
          judgeAgain(evidence, {
            at: context.now(),
            blockTime: latest.timestamp,
            policy: context.policy,
          }),
        ),
      ])
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
  const unsettle: Step = ({ order, attempts, proofs }) => {
    const attempt = attempts.find(({ number }) => number === order.attempt)
    return attempt
      ? unsettleOrder(
          { order, attempt, proofs },
          { ...facts, transactions: [] },
        )
      : noChanges()
  }
  const settle: Step = ({ order, attempts, proofs }) => {
    const attempt = attempts.find(({ number }) => number === order.attempt)
    return attempt && evidence
      ? settleOrder({ order, attempt, proofs }, evidence, facts.at)
      : noChanges()
  }
  return [unsettle, settle]
}
