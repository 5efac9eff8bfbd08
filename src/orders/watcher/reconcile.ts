import { readCheckedAddress } from '../../chain/logs/encodeLogFilter.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import type { Scope } from '../../store/types.js'
import { readBlockNumber } from '../evidence/readBlockNumber.js'
import { readHeads } from '../evidence/readHeads.js'
import { OrdersSetupError } from '../model/errors.js'
import { isInScopes } from '../model/findOrder.js'
import type { OrdersContext } from '../model/types.js'
import { checkReorg, type Watch } from './checkReorg.js'
import { clientOf } from './clientOf.js'
import { findFirstBlock } from './findFirstBlock.js'
import { reconcileScope, type ScopeReconciliation } from './reconcileScope.js'
import { underSignal } from './underSignal.js'
import { readCursor, type WatchMemory } from './watchState.js'

/** What `reconcile` takes. */
export type ReconcileParameters = {
  /** @default all of this instance */
  scope?: Scope | undefined
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

const scopeMembers: MembersOf<Scope> = {
  chainId: true,
  token: true,
  recipient: true,
}

const members: MembersOf<ReconcileParameters> = {
  scope: true,
  fromBlock: true,
  signal: true,
}

/** What was found missing on record, and written. */
export type ReconciliationReport = { scopes: readonly ScopeReconciliation[] }

/**
 * Compares the record with the chain and writes what is missing: payments and
 * cancellations nobody told us about, payments of orders that had been given
 * up, and payments without an order. Run again, it changes nothing.
 *
 * What it finds can be taken back by a reorganization until it is final.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link OrdersSetupError} when the scope is not of this instance.
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * a node refuses, does not answer, or not with one chain; what was written by
 * then is true, and the rest is read again next time.
 */
export async function reconcile(
  context: OrdersContext,
  parameters: ReconcileParameters = {},
): Promise<ReconciliationReport> {
  checkMembers(parameters, members)
  const { scope, fromBlock } = parameters
  readBlockNumber(fromBlock, 'fromBlock')
  const wanted = scope === undefined ? context.scopes : [readScope(scope)]
  const other = wanted.find((one) => !isInScopes(context, one))
  if (other) throw new OrdersSetupError('do not answer for a scope', other)
  return underSignal(context, async (it) => {
    const scopes: ScopeReconciliation[] = []
    for (const one of wanted) {
      it.signal?.throwIfAborted()
      scopes.push(await reconcileOne(it, one, fromBlock))
    }
    return { scopes }
  })
}

/** Addresses are kept in lower case, and given as people write them. */
function readScope(scope: Scope): Scope {
  checkMembers(scope, scopeMembers, 'scope')
  const { chainId, token, recipient } = Object(scope)
  return {
    chainId,
    token: readCheckedAddress(token, 'scope.token'),
    recipient: readCheckedAddress(recipient, 'scope.recipient'),
  }
}

/**
 * Finds where to start when orders or proofs are older than the first block
 * that was read, because a worker starts at the oldest open order.
 */
async function findUnread(
  context: OrdersContext,
  { client, scope, heads: { latest } }: Watch,
): Promise<bigint | undefined> {
  const [cursor, first] = await Promise.all([
    context.store.read((tables) => readCursor(tables, scope)),
    findFirstBlock(context, client, scope, latest),
  ])
  return cursor && cursor.from <= first ? undefined : first
}

/** Without a lease: nobody waits for it, the rows' versions keep the peace. */
async function reconcileOne(
  context: OrdersContext,
  scope: Scope,
  fromBlock: bigint | undefined,
): Promise<ScopeReconciliation> {
  const { policy } = context
  const client = clientOf(context, scope)
  const memory: WatchMemory = {}
  const heads = await readHeads(client, policy)
  const watch = { client, scope, memory, heads, lease: undefined }
  await checkReorg(context, watch)
  const found = await reconcileScope(context, {
    ...watch,
    isDeep: true,
    fromBlock: fromBlock ?? (await findUnread(context, watch)),
  })
  // Others have seen a fork by now, and would not look at this again.
  const after = await readHeads(client, policy, [heads.latest.number])
  await checkReorg(context, { ...watch, heads: after })
  return found
}
