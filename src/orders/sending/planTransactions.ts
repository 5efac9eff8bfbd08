import {
  type BatchRoute,
  findBatchRoute,
} from '../../batches/findBatchRoute.js'
import { findContracts } from '../../chain/state/findContracts.js'
import { getGasLimit } from '../../chain/state/getGasLimit.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { putAside, type TaskName } from '../loop/putAside.js'
import { hasTokenNonce, kindOf } from '../model/kindOf.js'
import { traitsOf } from '../model/roles.js'
import { carry, type DueTransaction } from './dueTransaction.js'
import { groupDrafts } from './groupDrafts.js'
import type { DueDraft } from './rehearseDue.js'

/** Most gas of a transaction (EIP-7825). */
const mostGas = 2n ** 24n

/** Name under which the list of failures has a failure to look for routes. */
const routeName: TaskName = 'batches'

/**
 * Plans the transactions for drafts, the soonest deadline first: one for each,
 * or one for many captures if a contract can make their calls so that the rest
 * succeed if one fails. Payers with code go alone: their code could use up the
 * gas of all.
 *
 * @param gasLeft units of gas that the account can pay for: a transaction for
 * all must not wait while it could pay for some.
 */
export async function planTransactions(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
  gasLeft: bigint = mostGas,
): Promise<DueTransaction[]> {
  const { route, shared, most } = await findBatch(context, submitter, drafts)
  const { maxBatch } = context.policy
  const groups = groupDrafts(drafts, {
    shared,
    limitOf: (orderId) =>
      Math.min(submitter.batches.limitOf(orderId), maxBatch),
    mostGas: gasLeft < most ? gasLeft : most,
    ownGas: route?.gas ?? 0n,
  })
  return groups.map((group) => carry(group, route))
}

type Batch = {
  route?: BatchRoute | undefined
  /** Drafts that may share transactions. */
  shared: ReadonlySet<DueDraft>
  /** Most gas of a transaction. */
  most: bigint
}

/**
 * Finds the drafts that may share transactions, and the contract for these. No
 * draft may if the node does not answer about the contract or the payers.
 */
async function findBatch(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
): Promise<Batch> {
  const { aside, reader, inFlight } = submitter
  const alone: Batch = { shared: new Set(), most: mostGas }
  const open = mayBatch(context, submitter)
    ? drafts.filter((draft) => isShareable(context, draft))
    : []
  const mayDelegate = inFlight.hasCode !== false
  const some = mayDelegate ? open : open.filter(isAnyones)
  if (some.length < 2 || aside.isWaiting(routeName)) return alone
  const payerOf = ({ stored: { attempt } }: DueDraft) => attempt.payer
  try {
    const place = { ...submitter.wallet.submitter, mayDelegate }
    // Known already, unless the account delegates.
    const route = await findBatchRoute(reader, place)
    if (!route) return alone
    const payers = some.flatMap((draft) => payerOf(draft) ?? [])
    const [contracts, gasLimit] = await Promise.all([
      findContracts(reader, payers),
      getGasLimit(reader),
    ])
    aside.clear(routeName)
    const shared = some.filter((draft) => {
      const payer = payerOf(draft)
      const isPlain = payer !== undefined && !contracts.has(payer)
      return isPlain && (route.isOwn || isAnyones(draft))
    })
    const most = gasLimit < mostGas ? gasLimit : mostGas
    return { route, shared: new Set(shared), most }
  } catch (error) {
    putAside(aside, routeName, error)
    return alone
  }
}

/**
 * Asks about the contract for batches before the first plan, so that the
 * requests go with those of the simulations.
 */
export function askForRoute(
  context: OrdersContext,
  submitter: SubmitterState,
  open: readonly Pick<DueDraft, 'stored'>[],
): void {
  const { batches, reader, wallet } = submitter
  const isFirst = batches.reach === undefined && mayBatch(context, submitter)
  if (!isFirst || open.filter(isAnyones).length < 2) return
  const place = { ...wallet.submitter, mayDelegate: false }
  findBatchRoute(reader, place).catch(() => undefined)
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
 * True for a capture of a buyer's payment whose nonce the token's events name:
 * they show whether it was captured, whatever else the transaction did.
 */
function isShareable(
  context: OrdersContext,
  { kind, stored: { order } }: DueDraft,
): boolean {
  const isSale = kind === 'capture' && traitsOf(order).hasBuyer
  return isSale && hasTokenNonce(kindOf(context, order))
}

/** True for a capture that any account, and so any contract, can make. */
function isAnyones({ stored: { order } }: Pick<DueDraft, 'stored'>): boolean {
  return (
    order.primaryType === 'TransferWithAuthorization' &&
    order.total === 'amount'
  )
}
