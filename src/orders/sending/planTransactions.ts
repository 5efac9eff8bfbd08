import {
  type BatchRoute,
  findBatchRoute,
} from '../../batches/findBatchRoute.js'
import { findContracts } from '../../chain/state/findContracts.js'
import { getGasLimit } from '../../chain/state/getGasLimit.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { putAside } from '../loop/putAside.js'
import { kindOf } from '../model/kindOf.js'
import { traitsOf } from '../model/roles.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { carry, type DueTransaction } from './dueTransaction.js'
import { groupDrafts } from './groupDrafts.js'
import type { DueDraft } from './rehearseDue.js'

/** Most gas of a transaction (EIP-7825). */
const mostGas = 2n ** 24n

/** Name under which the list of failures has a failure to look for routes. */
const routeName = 'batches'

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
  const open = mayBatch(context, submitter)
    ? storedOrders.filter(
        (stored) =>
          isShareable(context, stored) && (mayDelegate || isAnyones(stored)),
      )
    : []
  if (open.length < 2 || aside.isWaiting(routeName)) return alone
  try {
    // Known already, unless the account delegates.
    const route = await findBatchRoute(reader, {
      ...wallet.submitter,
      mayDelegate,
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
 * sent. An account that delegates may send few at a time, so it loads many at
 * once; with room for one transaction, at least two, or it would never again
 * see a payment that can share it.
 */
export function reachOf(
  context: OrdersContext,
  submitter: SubmitterState,
  room: number,
): number {
  if (!mayBatch(context, submitter)) return 1
  const { batches, inFlight } = submitter
  const { maxBatch } = context.policy
  const first = inFlight.hasCode ? maxBatch : 1
  const least = room === 1 ? 2 : 1
  return Math.min(Math.max(batches.reach ?? first, least), maxBatch)
}

function mayBatch(
  { policy }: OrdersContext,
  { wallet, batches }: SubmitterState,
): boolean {
  const isOn = policy.batch === 'auto' && policy.maxBatch > 1
  return isOn && wallet.account.type === 'local' && !batches.isPaused()
}

/**
 * True for a capture of a payment that a buyer signed: logs name its nonce, and
 * show whether it was captured, whatever else the transaction did.
 */
function isShareable(context: OrdersContext, { order }: StoredOrder): boolean {
  const isSale = order.requested !== 'cancel' && traitsOf(order).hasBuyer
  return isSale && !kindOf(context, order).settling
}

/** True for a capture that any account, and so any contract, can make. */
function isAnyones({ order }: StoredOrder): boolean {
  return (
    order.primaryType === 'TransferWithAuthorization' &&
    order.total === 'amount'
  )
}
