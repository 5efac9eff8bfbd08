import {
  type BatchRoute,
  findBatchRoute,
} from '../../batches/calls/findBatchRoute.js'
import { findContracts } from '../../chain/state/findContracts.js'
import { getGasLimit } from '../../chain/state/getGasLimit.js'
import { isPaused } from '../account/batchMemory.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { putAside, type TaskName } from '../loop/putAside.js'
import { kindOf } from '../model/kindOf.js'
import { traitsOf } from '../model/roles.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { carry, type DueTransaction } from './dueTransaction.js'
import { groupDrafts } from './groupDrafts.js'
import type { DueDraft } from './rehearseDue.js'

/** Most gas of a transaction (EIP-7825). */
const mostGas = 2n ** 24n

/** Name under which the list of failures has a failure to look for routes. */
export const routeName: TaskName = 'batches'

/** What the chain says about transactions with many captures. */
export type BatchAnswer = {
  route?: BatchRoute | undefined
  /** The orders that may share transactions. */
  orderIds: ReadonlySet<string>
  /** Most gas of a transaction. */
  mostGas: bigint
}

/**
 * Asks which contract can make the calls of many captures so that the rest
 * succeed if one fails, and which orders may share it. Payers with code go
 * alone: their code could use up the gas of all. Without an answer of the node,
 * all go alone.
 *
 * Ask before the simulation, so that the requests go with its own.
 */
export async function askForBatch(
  context: OrdersContext,
  submitter: SubmitterState,
  storedOrders: readonly StoredOrder[],
): Promise<BatchAnswer> {
  const { aside, reader, inFlight, wallet } = submitter
  const alone: BatchAnswer = { orderIds: new Set(), mostGas }
  const mayDelegate = inFlight.hasCode !== false
  const open = storedOrders.filter((stored) =>
    mayShare(context, submitter, stored),
  )
  if (open.length < 2 || aside.isWaiting(routeName)) return alone
  try {
    // Known already, unless the account delegates.
    const route = await findBatchRoute(reader, {
      ...wallet.submitter,
      mayDelegate,
      trusted: context.delegates,
    })
    if (!route) return alone
    const possible = open.filter((stored) => route.isOwn || isAnyones(stored))
    const [contracts, gasLimit] = await Promise.all([
      findContracts(
        reader,
        possible.flatMap(({ attempt }) => attempt.payer ?? []),
      ),
      getGasLimit(reader),
    ])
    aside.clear(routeName)
    const plain = possible.filter(
      ({ attempt: { payer } }) => payer !== undefined && !contracts.has(payer),
    )
    return {
      route,
      orderIds: new Set(plain.map(({ order }) => order.id)),
      mostGas: gasLimit < mostGas ? gasLimit : mostGas,
    }
  } catch (error) {
    putAside(aside, routeName, error)
    return alone
  }
}

/**
 * Plans the transactions for drafts, the soonest deadline first: one for each,
 * or one for many captures.
 *
 * @param options.gasLeft units of gas that the account can pay for: a
 * transaction for all must not wait while it could pay for some.
 */
export function planTransactions(
  { policy: { maxBatch } }: OrdersContext,
  { batches }: SubmitterState,
  drafts: readonly DueDraft[],
  {
    batch: { route, orderIds, mostGas },
    gasLeft = mostGas,
  }: { batch: BatchAnswer; gasLeft?: bigint | undefined },
): DueTransaction[] {
  const groups = groupDrafts(drafts, {
    shared: new Set(
      drafts.filter(
        ({ kind, stored: { order } }) =>
          kind === 'capture' && orderIds.has(order.id),
      ),
    ),
    limitOf: (orderId) => Math.min(batches.limitOf(orderId), maxBatch),
    mostGas: gasLeft < mostGas ? gasLeft : mostGas,
    ownGas: route?.gas ?? 0n,
  })
  return groups.map((group) => carry(group, route))
}

/**
 * Returns the number of due orders to load for each transaction that may be
 * sent: with room for one, at least two, or the submitter would never again see
 * a payment that can share it.
 */
export function reachOf(
  context: OrdersContext,
  submitter: SubmitterState,
  room: number,
): number {
  const { maxBatch } = context.policy
  if (!mayBatch(context, submitter)) return 1
  const { reach = maxBatch } = submitter.batches
  const least = room === 1 ? 2 : 1
  return Math.min(Math.max(reach, least), maxBatch)
}

/**
 * Leaves out the last orders, which would have no room even if all that may
 * share transactions do.
 */
export function fitInto(
  context: OrdersContext,
  submitter: SubmitterState,
  room: number,
  storedOrders: readonly StoredOrder[],
): readonly StoredOrder[] {
  const { maxBatch } = context.policy
  let used = 0
  const end = storedOrders.findIndex((stored) => {
    const limit = mayShare(context, submitter, stored)
      ? Math.min(submitter.batches.limitOf(stored.order.id), maxBatch)
      : 1
    used += 1 / limit
    // Sums of fractions are not exact.
    return used > room + 1e-6
  })
  return end < 0 ? storedOrders : storedOrders.slice(0, end)
}

function mayBatch(
  { policy, now }: OrdersContext,
  { wallet, nonces }: SubmitterState,
): boolean {
  const isOn = policy.batch === 'auto' && policy.maxBatch > 1
  const isLocal = wallet.account.type === 'local'
  return isOn && isLocal && !isPaused(nonces.value, Number(now() / 1000n))
}

/**
 * True for the capture of a payment that a buyer signed: logs name its nonce,
 * and so show whether it was captured, whatever else the transaction did. A
 * plain account shares only captures that any account can make.
 */
function mayShare(
  context: OrdersContext,
  submitter: SubmitterState,
  stored: StoredOrder,
): boolean {
  const { order } = stored
  if (!mayBatch(context, submitter)) return false
  const isSale = order.requested !== 'cancel' && traitsOf(order).hasBuyer
  if (!isSale || kindOf(context, order).settling) return false
  return submitter.inFlight.hasCode !== false || isAnyones(stored)
}

/** True for a capture that any account, and so any contract, can make. */
function isAnyones({ order }: StoredOrder): boolean {
  return (
    order.primaryType === 'TransferWithAuthorization' &&
    order.total === 'amount'
  )
}
