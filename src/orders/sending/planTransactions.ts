import type { BlockHead } from '../../chain/rpc/requestNode.js'
import { findContracts } from '../../chain/state/findContracts.js'
import {
  encodeMulticall,
  hasMulticall,
  multicallAddress,
} from '../../payments/capture/multicall.js'
import type { SubmitterState } from '../account/submitterState.js'
import type { OrdersContext } from '../context/types.js'
import { putAside } from '../loop/putAside.js'
import { hasTokenNonce, kindOf } from '../model/kindOf.js'
import { traitsOf } from '../model/roles.js'
import {
  type BatchRoute,
  carry,
  type DueTransaction,
  shareOf,
} from './dueTransaction.js'
import type { DueDraft } from './rehearseDue.js'

/** Most gas of a transaction (EIP-7825). */
const mostGas = 2n ** 24n

/** Name under which the list of failures has a failure to look for routes. */
const routeName = 'batches'

const multicall: BatchRoute = {
  to: multicallAddress,
  gas: 40_000n,
  encode: encodeMulticall,
}

/**
 * Returns the number of due orders that are worth loading for each transaction
 * that may be sent.
 */
export async function reachOf(
  context: OrdersContext,
  submitter: SubmitterState,
): Promise<number> {
  if (!(await findRoute(context, submitter))) return 1
  return submitter.batches.reach ?? context.policy.maxBatch
}

/**
 * Finds the contract that makes many calls in one transaction of the submitter.
 * Returns none if there is none, or the node does not answer.
 */
async function findRoute(
  { policy }: OrdersContext,
  { wallet, batches, reader, aside }: SubmitterState,
): Promise<BatchRoute | undefined> {
  const isOn = policy.batch === 'auto' && policy.maxBatch > 1
  if (!isOn || wallet.account.type !== 'local' || batches.isPaused())
    return undefined
  if (aside.isWaiting(routeName)) return undefined
  try {
    return (await hasMulticall(reader)) ? multicall : undefined
  } catch (error) {
    putAside(aside, routeName, error)
    return undefined
  }
}

/**
 * Plans the transactions for drafts, the soonest deadline first: one for each,
 * or one for many captures if a contract can make their calls so that the rest
 * succeed if one fails. Payers with code go alone: their code could use up the
 * gas of all.
 */
export async function planTransactions(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
  { gasLimit = mostGas }: Pick<BlockHead, 'gasLimit'>,
): Promise<DueTransaction[]> {
  const route = await findRoute(context, submitter)
  const shared = route
    ? await findShared(context, submitter, drafts)
    : new Set<DueDraft>()
  const most = gasLimit < mostGas ? gasLimit : mostGas
  const groups: Group[] = []
  let open: Group | undefined
  for (const draft of drafts) {
    const limit = shared.has(draft)
      ? submitter.batches.limitOf(draft.stored.order.id)
      : 1
    const joined = open && limit > 1 ? join(open, draft, limit) : undefined
    const isFitting =
      joined &&
      joined.drafts.length <= Math.min(joined.limit, context.policy.maxBatch) &&
      joined.gas <= most
    if (open && isFitting) Object.assign(open, joined)
    else {
      const gas = shareOf(draft) + (route?.gas ?? 0n)
      const group: Group = { drafts: [draft], gas, limit }
      groups.push(group)
      if (limit > 1) open = group
    }
  }
  return groups.map((group) => carry(group.drafts, route))
}

/** Drafts for one transaction. */
type Group = {
  drafts: [DueDraft, ...DueDraft[]]
  gas: bigint
  /** Most payments that the transaction may carry. */
  limit: number
}

function join(group: Group, draft: DueDraft, limit: number): Group {
  return {
    drafts: [...group.drafts, draft],
    gas: group.gas + shareOf(draft),
    limit: Math.min(group.limit, limit),
  }
}

/**
 * Finds the drafts that may share a transaction. None may if the node does not
 * answer about the contract and the payers: then each goes alone.
 */
async function findShared(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
): Promise<ReadonlySet<DueDraft>> {
  const open = drafts.filter((draft) => isShareable(context, draft))
  if (open.length < 2) return new Set()
  const { aside, reader } = submitter
  try {
    const payers = open.flatMap(({ stored }) => stored.attempt.payer ?? [])
    const contracts = await findContracts(reader, payers)
    aside.clear(routeName)
    return new Set(
      open.filter(
        ({ stored: { attempt } }) =>
          attempt.payer && !contracts.has(attempt.payer),
      ),
    )
  } catch (error) {
    putAside(aside, routeName, error)
    return new Set()
  }
}

/**
 * True for a capture that any account can make, and whose event names its
 * payment nonce.
 */
function isShareable(
  context: OrdersContext,
  { kind, stored: { order } }: DueDraft,
): boolean {
  return (
    kind === 'capture' &&
    order.primaryType === 'TransferWithAuthorization' &&
    traitsOf(order).hasBuyer &&
    hasTokenNonce(kindOf(context, order))
  )
}
