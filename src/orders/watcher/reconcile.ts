import { checkChain } from '../../chain/state/checkChain.js'
import { getHeads } from '../../chain/state/getHeads.js'
import { checkMembers } from '../../core/checkMembers.js'
import { parseBlockNumber } from '../../core/parseBlockNumber.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { wait } from '../../core/wait.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { underSignal } from '../loop/endingContext.js'
import { OrdersSetupError, ProofConflictError } from '../model/errors.js'
import { checkReorg, mostBehind } from './checkReorg.js'
import { loadCursor } from './destinationCursor.js'
import { findFirstBlock } from './findFirstBlock.js'
import {
  type DestinationReconciliation,
  reconcileDestination,
} from './reconcileToken.js'
import {
  newMemory,
  newTokenMemory,
  type TokenWatch,
  type Watch,
} from './watchState.js'

/** Parameters of `reconcile`: what to compare with the chain. */
export type ReconcileParameters = {
  /**
   * The destination to reconcile.
   * @default all destinations of this instance
   */
  destination?: Destination | undefined
  /**
   * First block to read, even if the node lacks the last reconciled block.
   * @default some blocks before the last reconciled one; without one, the block
   * of the oldest order
   */
  fromBlock?: bigint | undefined
  /**
   * Ends the reconciliation when it aborts; `reconcile` then rejects with the
   * signal's reason. Everything written by then is complete.
   */
  signal?: AbortSignal | undefined
}

/**
 * What `reconcile` found on chain that the store lacked, and wrote, by
 * destination.
 */
export type ReconciliationReport = {
  destinations: readonly DestinationReconciliation[]
}

/**
 * Compares the store with the chain and writes what the store lacks: payments
 * and cancellations that others submitted, payments of orders that had ended
 * unpaid, and payments without an order. A second run changes nothing.
 *
 * Until a block is final, a reorganization can undo what was found in it.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link OrdersSetupError} when this instance lacks the destination.
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * a node refuses, does not answer, mixes two versions of the chain or is on
 * another chain. Everything written by then is correct; the next run reads the
 * rest again.
 * @throws {@link ProofConflictError} when the payment of one order is already
 * stored as the payment of another. All other orders of its destination are
 * written first.
 */
export async function reconcile(
  context: OrdersContext,
  parameters: ReconcileParameters = {},
): Promise<ReconciliationReport> {
  checkMembers(parameters, ['destination', 'fromBlock', 'signal'])
  const { destination, fromBlock } = parameters
  parseBlockNumber(fromBlock, 'fromBlock')
  const wanted =
    destination === undefined
      ? context.destinations
      : [readDestination(destination)]
  const other = wanted.find(
    (one) => !isInDestinations(one, context.destinations),
  )
  if (other)
    throw new OrdersSetupError(
      'do not have this destination: pass a chain, token and recipient of these orders',
      other,
    )
  return underSignal(context, async (it) => {
    const destinations: DestinationReconciliation[] = []
    const { aside, close } = failAtOnce()
    for (const one of wanted) {
      it.signal?.throwIfAborted()
      destinations.push(await reconcileOne(it, aside, one, fromBlock))
    }
    close()
    return { destinations }
  })
}

/**
 * Lowers the case of addresses: the store has them in lower case, and callers
 * may pass any.
 */
function readDestination(destination: Destination): Destination {
  checkMembers(destination, ['chainId', 'token', 'recipient'], 'destination')
  const { chainId, token, recipient } = Object(destination)
  return {
    chainId,
    token: parseCheckedAddress(token, 'destination.token'),
    recipient: parseCheckedAddress(recipient, 'destination.recipient'),
  }
}

/**
 * Finds where to start if the store has orders or payments older than the first
 * block ever read. That is common, because a worker starts at the oldest order
 * that is still open.
 */
async function findUnread(
  context: OrdersContext,
  { client, heads: { latest } }: TokenWatch,
  destination: Destination,
): Promise<bigint | undefined> {
  const [cursor, first] = await Promise.all([
    context.store.read((tables) => loadCursor(tables, destination)),
    findFirstBlock(context, client, destination, latest),
  ])
  return cursor && cursor.from <= first ? undefined : first
}

/**
 * Replaces a worker's list of failed steps, for a caller who wants the error.
 * Throws each failure at once instead of trying again later. Only a payment
 * that is stored for another order waits until the rest is written: `close`
 * then throws the first such error.
 */
function failAtOnce(): { aside: Watch['aside']; close: () => void } {
  const conflicts: ProofConflictError[] = []
  const put = (_name: string, error: unknown) => {
    if (!(error instanceof ProofConflictError)) throw error
    return conflicts.push(error)
  }
  const nowhere = { put, isWaiting: () => false, clear: () => undefined }
  return {
    aside: { ...nowhere, at: () => nowhere },
    close: () => {
      const [conflict] = conflicts
      if (conflict) throw conflict
    },
  }
}

/**
 * Polls again while the node lacks a block that was seen before, because a slow
 * node catches up. Gives up on a block that the node still lacks after the
 * chain grew in several polls. If the chain does not grow, `findLast` rejects
 * later.
 */
async function untilAhead(
  context: OrdersContext,
  watch: TokenWatch,
): Promise<TokenWatch> {
  const { client } = watch
  const { policy, signal } = context
  let seen = watch
  for (let looks = 0; looks <= mostBehind; looks++) {
    if ((await checkReorg(context, seen)) !== 'behind') return seen
    await wait(policy.pollingInterval ?? client.pollingInterval, signal)
    signal?.throwIfAborted()
    seen = { ...seen, heads: await getHeads(client, policy) }
  }
  await checkReorg(context, seen)
  return seen
}

/**
 * Reconciles one destination. Needs no lease: if another process writes the
 * same rows, the versions of the rows show it and the write fails.
 */
async function reconcileOne(
  context: OrdersContext,
  aside: Watch['aside'],
  destination: Destination,
  fromBlock: bigint | undefined,
): Promise<DestinationReconciliation> {
  const { policy } = context
  const client = clientOf(context, destination)
  await checkChain(client, destination.chainId)
  const heads = await getHeads(client, policy)
  const { chainId, token } = destination
  const tokenMemory = newTokenMemory()
  const watch: TokenWatch = {
    client,
    chainId,
    token,
    all: [destination],
    destinations: [destination],
    heads,
    memory: newMemory(),
    tokenMemory,
    lease: undefined,
    aside,
    apart: tokenMemory.apart,
  }
  const seen = await untilAhead(context, watch)
  const { report } = await reconcileDestination(context, {
    ...seen,
    isDeep: true,
    isAll: true,
    fromBlock: fromBlock ?? (await findUnread(context, seen, destination)),
  })
  // If the chain reorganized meanwhile, no worker has checked the payments
  // found here, because they were not stored yet. Check them now.
  const after = await getHeads(client, policy, [seen.heads.latest.number])
  await checkReorg(context, { ...watch, heads: after })
  return { destination, ...report }
}
