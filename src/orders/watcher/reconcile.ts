import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { Destination } from '../../store/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { underSignal } from '../evidence/endingContext.js'
import { getHeads } from '../evidence/getHeads.js'
import { parseBlockNumber } from '../evidence/parseBlockNumber.js'
import { OrdersSetupError, ProofConflictError } from '../model/errors.js'
import type { OrdersContext } from '../model/types.js'
import { checkReorg } from './checkReorg.js'
import { loadCursor } from './destinationCursor.js'
import { findFirstBlock } from './findFirstBlock.js'
import {
  type DestinationReconciliation,
  reconcileDestination,
} from './reconcileDestination.js'
import { newMemory, type Watch } from './watchState.js'

/** What `reconcile` takes. */
export type ReconcileParameters = {
  /** @default all of this instance */
  destination?: Destination | undefined
  /**
   * First block to read, even if the node does not know the last reconciled
   * block. @default some blocks before the last reconciled one; the block of
   * the oldest order if no reconciliation has read it
   */
  fromBlock?: bigint | undefined
  /**
   * Ends the reconciliation, which then rejects with the signal's reason.
   * Everything written by then is complete.
   */
  signal?: AbortSignal | undefined
}

const destinationMembers: MembersOf<Destination> = {
  chainId: true,
  token: true,
  recipient: true,
}

const members: MembersOf<ReconcileParameters> = {
  destination: true,
  fromBlock: true,
  signal: true,
}

/** What `reconcile` found missing on record, and wrote. */
export type ReconciliationReport = {
  destinations: readonly DestinationReconciliation[]
}

/**
 * Compares the record with the chain and writes what is missing: payments and
 * cancellations that others submitted, payments of orders that were given up
 * before, and payments without an order. A second run changes nothing.
 *
 * Until a block is final, a reorganization can undo what was found in it.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link OrdersSetupError} when the destination is not of this instance.
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * a node refuses, does not answer, or answers from two chains. Everything
 * written by then is correct, and the next run reads the rest again.
 * @throws {@link ProofConflictError} when the payment of an order is on record
 * for another. All other orders of its destination are written before.
 */
export async function reconcile(
  context: OrdersContext,
  parameters: ReconcileParameters = {},
): Promise<ReconciliationReport> {
  checkMembers(parameters, members)
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
    throw new OrdersSetupError('do not answer for a destination', other)
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

/** The store has lower-case addresses; callers may pass any case. */
function readDestination(destination: Destination): Destination {
  checkMembers(destination, destinationMembers, 'destination')
  const { chainId, token, recipient } = Object(destination)
  return {
    chainId,
    token: parseCheckedAddress(token, 'destination.token'),
    recipient: parseCheckedAddress(recipient, 'destination.recipient'),
  }
}

/**
 * Finds where to start if orders or proofs are older than the first block ever
 * read. This happens because a worker starts at the oldest open order.
 */
async function findUnread(
  context: OrdersContext,
  { client, destination, heads: { latest } }: Watch,
): Promise<bigint | undefined> {
  const [cursor, first] = await Promise.all([
    context.store.read((tables) => loadCursor(tables, destination)),
    findFirstBlock(context, client, destination, latest),
  ])
  return cursor && cursor.from <= first ? undefined : first
}

/**
 * Throws the first failure, and puts nothing aside. Only conflicts wait until
 * the rest is written: `close` throws the first of them.
 */
function failAtOnce(): { aside: Watch['aside']; close: () => void } {
  const conflicts: ProofConflictError[] = []
  return {
    aside: {
      put: (_name, error) => {
        if (!(error instanceof ProofConflictError)) throw error
        return conflicts.push(error)
      },
      isWaiting: () => false,
      clear: () => undefined,
    },
    close: () => {
      const [conflict] = conflicts
      if (conflict) throw conflict
    },
  }
}

/** Needs no lease: the versions of the rows reject conflicting writes. */
async function reconcileOne(
  context: OrdersContext,
  aside: Watch['aside'],
  destination: Destination,
  fromBlock: bigint | undefined,
): Promise<DestinationReconciliation> {
  const { policy } = context
  const client = clientOf(context, destination)
  const heads = await getHeads(client, policy)
  const watch = {
    client,
    destination,
    heads,
    memory: newMemory(),
    lease: undefined,
    aside,
  }
  await checkReorg(context, watch)
  const found = await reconcileDestination(context, {
    ...watch,
    isDeep: true,
    isAll: true,
    fromBlock: fromBlock ?? (await findUnread(context, watch)),
  })
  // A worker that handled a reorg in the meantime would not check these proofs.
  const after = await getHeads(client, policy, [heads.latest.number])
  await checkReorg(context, { ...watch, heads: after })
  return found
}
