import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { Destination } from '../../store/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { underSignal } from '../evidence/endingContext.js'
import { getHeads } from '../evidence/getHeads.js'
import { parseBlockNumber } from '../evidence/parseBlockNumber.js'
import { OrdersSetupError } from '../model/errors.js'
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
   * Where to start reading, even if the node does not know the block that was
   * read last. @default some blocks before the last one that was read; the
   * block of the oldest order if that was never read
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

/** What was found missing on record, and written. */
export type ReconciliationReport = {
  destinations: readonly DestinationReconciliation[]
}

/**
 * Compares the record with the chain and writes what is missing: payments and
 * cancellations that others submitted, payments of orders that had been given
 * up, and payments without an order. Run again, it changes nothing.
 *
 * What it finds can be taken back by a reorganization until it is final.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link OrdersSetupError} when the destination is not of this instance.
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * a node refuses, does not answer, or not with one chain; what was written by
 * then is true, and the rest is read again next time.
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
    for (const one of wanted) {
      it.signal?.throwIfAborted()
      destinations.push(await reconcileOne(it, one, fromBlock))
    }
    return { destinations }
  })
}

/** Addresses are kept in lower case, and given as people write them. */
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
 * Finds where to start when orders or proofs are older than the first block
 * that was read, because a worker starts at the oldest open order.
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

/** The caller gets the first failure: nothing is put aside. */
const failAtOnce: Watch['aside'] = {
  put: (_name, error) => {
    throw error
  },
  isWaiting: () => false,
  clear: () => undefined,
}

/** Without a lease: nobody waits for it, the rows' versions keep the peace. */
async function reconcileOne(
  context: OrdersContext,
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
    aside: failAtOnce,
  }
  await checkReorg(context, watch)
  const found = await reconcileDestination(context, {
    ...watch,
    isDeep: true,
    isAll: true,
    fromBlock: fromBlock ?? (await findUnread(context, watch)),
  })
  // A worker that saw a reorg meanwhile would not look at this again.
  const after = await getHeads(client, policy, [heads.latest.number])
  await checkReorg(context, { ...watch, heads: after })
  return found
}
