import type { Address } from 'viem'
import { addAll } from '../../core/addAll.js'
import { endOfTime } from '../../core/clock.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import { ordersOf } from '../../store/movements.js'
import type {
  Destination,
  EarlyQuery,
  OrderState,
  StoreReader,
  Submitter,
} from '../../store/types.js'
import { parseSubmitterValue } from '../account/accountNonces.js'
import { submitterKey } from '../account/submitterState.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { findAsideKeys, loadAside } from '../loop/putAside.js'
import { countSealKeys } from '../model/countSealKeys.js'
import { atRisk } from '../model/earlyAnswer.js'
import { findOrphans } from '../model/knownSubmitters.js'
import { paidBy } from '../model/sendersOf.js'
import { storeKey } from '../model/storeState.js'
import {
  loadReconciled,
  type Reconciled,
} from '../watcher/destinationCursor.js'
import { watchKey } from '../watcher/watchKeys.js'
import { findBehind } from './findBehind.js'
import {
  type ChainHealth,
  type Funds,
  getChainHealth,
  getFunds,
  type NodeFault,
  noFunds,
} from './nodeHealth.js'

/** Result of `health`: the state of orders, submitters and chains. */
export type OrdersHealth = {
  /**
   * Identity of the physical database; it changes when the database is
   * replaced.
   */
  identity: string | undefined
  /**
   * True after `suspend`, or after the database was replaced: no transaction is
   * sent until you call `resume`.
   */
  suspended: boolean
  /**
   * Number of stored secrets, by the name of the sealing key that encrypted
   * them.
   */
  sealKeys: Readonly<Record<string, number>>
  chains: readonly ChainHealth[]
  destinations: readonly DestinationHealth[]
  submitters: readonly SubmitterHealth[]
}

/** The state of the orders of one recipient in one token. */
export type DestinationHealth = Destination & {
  counts: Partial<Record<OrderState, number>>
  /**
   * The store has every payment in blocks before this one. Absent before the
   * first poll of the chain. With more than 4,000 open orders, cancellations
   * may be found later.
   */
  reconciledTo: bigint | undefined
  /** Number of blocks from `reconciledTo` to the newest block. */
  lag: bigint | undefined
  /**
   * Token units of payments that were, or may still be, answered at
   * `preconfirmed`, and whose capture is in no block yet.
   */
  atRisk: bigint
  /**
   * Token units of captures that were answered at `preconfirmed`, and were
   * never paid because the chain dropped them.
   */
  servedUnpaid: bigint
  /**
   * Tasks of watching the chain, or of charging subscriptions, that failed. A
   * worker tries each again after a pause.
   */
  putAside: readonly PutAside[]
}

/** A task that failed and that a worker tries again after a pause. */
type PutAside = {
  /**
   * What failed. One of:
   * - an order's id
   * - `submitter`: all work on the submitter
   * - an order's id, a tab, and the id of its refund
   * - `sign:` and one of these: the account did not sign, or the sealer did not
   *   seal
   * - the hash of a transaction, or a payment nonce, that belongs to no order
   * - work on an account nonce, such as `replace nonce 7`
   * - `batches`: choosing what is sent together
   * - `captureKeys`: asking about the other keys of a treasury
   * - a task of watching the chain: `watch`, `head`, `finality`,
   *   `reorganizations`, `expiry`, `drafts`, `reconciliation`, `fulfilment`,
   *   `finalityRaised`, `refunds`
   * - a task of charging subscriptions: a subscription's id, `revocation` and
   *   the id, `charges`, `schedule`
   */
  what: string
  /** The subscription whose id is in `what`; absent if that is an order's. */
  subscriptionId?: string | undefined
  /** The name of the error, such as `NodeError`. */
  reason: string
  /** Unix milliseconds of the first failure since the task last succeeded. */
  since: bigint
}

/**
 * The state of one submitter: an account that sends transactions on a chain.
 */
export type SubmitterHealth = {
  chainId: number
  account: Address
  /** The account's balance in wei, which pays for gas. */
  balance: bigint | undefined
  /** Current gas price in wei. */
  gasPrice: bigint | undefined
  /**
   * Transactions that the store has, and that are in no block yet as far as we
   * know.
   */
  openTransactions: number
  /**
   * Number of orders and refunds that wait because their transaction would cost
   * more than `policy.maxFee`; at most 1,000.
   */
  feeTooHigh: number
  /**
   * The first end of a window, in Unix seconds, among the orders and refunds
   * whose transaction is still to be sent; absent if there are none.
   */
  nextDeadline: bigint | undefined
  /** Lowest account nonce for which the store has no transaction. */
  nextNonce: number
  /**
   * The lease of the instance that works on the submitter; absent if none does.
   */
  lease: SubmitterLease | undefined
  /**
   * Orders that failed and wait for their next try, or all work on the
   * submitter.
   */
  putAside: readonly PutAside[]
  /**
   * What is wrong with the node, or that the submitter's wallet was removed.
   */
  fault: string | undefined
  /** The fault as a code, without text from the node. */
  faultKind: NodeFault | undefined
}

/**
 * The right of one instance to work on a submitter, until it expires or is
 * renewed.
 */
type SubmitterLease = {
  /** Random name of the instance that has the lease. */
  owner: string
  /** True when the lease belongs to the instance that you called. */
  thisInstance: boolean
  /** End of the lease in Unix milliseconds, by the database's clock. */
  until: bigint
}

/** Implements `health` of `DestinationOrders`. */
export async function getHealth(context: OrdersContext): Promise<OrdersHealth> {
  const { store, tokens, recipients, shop } = context
  // A shop limited by `within` shows the wallets of its recipients. The whole
  // shop shows all wallets, because an account that is a recipient of another
  // shop may send for this one.
  const isWhole = recipients === shop.recipients
  const wallets = context.wallets.filter(
    (wallet) => isWhole || recipients.includes(paidBy(wallet)),
  )
  const ids = [...new Set(tokens.map(({ chainId }) => chainId))]
  const [chains, funds, kept] = await Promise.all([
    Promise.all(ids.map((chainId) => getChainHealth(context, chainId))),
    Promise.all(wallets.map((wallet) => getFunds(context, wallet))),
    store.read((tables) => loadKept(context, tables, wallets)),
  ])
  const headOf = (chainId: number) =>
    chains.find((chain) => chain.chainId === chainId)?.block
  const destinations: DestinationHealth[] = []
  for (const token of kept.tokens)
    addAll(destinations, showDestinations(token, headOf(token.chainId)))
  const seen = kept.tokens.map(({ chainId, reconciled }) => ({
    chainId,
    reconciledTo: reconciled.highest,
  }))
  return {
    identity: kept.identity,
    suspended: kept.suspended,
    sealKeys: kept.sealKeys,
    chains: chains.map((chain) => findBehind(chain, seen)),
    destinations,
    submitters: [
      ...kept.submitters.map((submitter, at) => ({
        ...submitter,
        ...(funds[at] ??
          noFunds({ fault: 'not asked', faultKind: 'unreachable' })),
      })),
      ...kept.orphans,
    ],
  }
}

async function loadKept(
  context: OrdersContext,
  tables: StoreReader,
  wallets: readonly OrderWallet[],
): Promise<{
  identity: string | undefined
  suspended: boolean
  sealKeys: Readonly<Record<string, number>>
  tokens: TokenHealth[]
  submitters: Omit<SubmitterHealth, keyof Funds>[]
  orphans: SubmitterHealth[]
}> {
  const { destinations, tokens } = context
  const state = Object(await tables.getValue(storeKey))
  const counts = await countOrders(tables, destinations)
  const kept: TokenHealth[] = []
  for (const { chainId, token } of tokens) {
    const key = watchKey(context, { chainId, token }, 'cursor')
    const own = destinations.filter(
      (one) => one.chainId === chainId && one.token === token,
    )
    kept.push({
      chainId,
      token,
      destinations: own,
      counts: counts.get(tokenWord({ chainId, token })),
      reconciled: await loadReconciled(
        tables,
        { sharedKey: key, changes: context.shop.changes },
        own,
      ),
      atRisk: await sumEarly(tables, {
        chainId,
        token,
        early: atRisk,
      }),
      unpaid: await sumEarly(tables, { chainId, token, early: ['unpaid'] }),
      asidesOf: await loadAsides(context, tables, { chainId, token }),
    })
  }
  const submitters: Omit<SubmitterHealth, keyof Funds>[] = []
  for (const { submitter } of wallets)
    submitters.push(await loadSubmitter(context, tables, submitter))
  const orphans: SubmitterHealth[] = []
  for (const chainId of new Set(tokens.map((token) => token.chainId)))
    for (const submitter of await findOrphans(context, tables, chainId))
      addAll(orphans, await findOrphan(context, tables, submitter))
  return {
    identity: typeof state.identity === 'string' ? state.identity : undefined,
    suspended: state.suspended === true,
    sealKeys: await countSealKeys(tables, context),
    tokens: kept,
    submitters,
    orphans,
  }
}

type TokenOf = Omit<Destination, 'recipient'>

const tokenWord = ({ chainId, token }: TokenOf): string => `${chainId} ${token}`

type Counts = ReadonlyMap<Address, DestinationHealth['counts']>

/** What the store has about the destinations (recipients) of one token. */
type TokenHealth = TokenOf & {
  destinations: readonly Destination[]
  counts: Counts | undefined
  reconciled: Reconciled
  atRisk: ReadonlyMap<Address, bigint>
  unpaid: ReadonlyMap<Address, bigint>
  asidesOf: (destination: Destination) => PutAside[]
}

function showDestinations(
  { destinations, counts, reconciled, atRisk, unpaid, asidesOf }: TokenHealth,
  head: bigint | undefined,
): DestinationHealth[] {
  // Most destinations were reconciled to the same block, so compute their lag
  // once and reuse it.
  let last: Pick<DestinationHealth, 'reconciledTo' | 'lag'> = {
    reconciledTo: undefined,
    lag: undefined,
  }
  return destinations.map((destination) => {
    // Copy field by field: for thousands of destinations, object spread would
    // take most of the time.
    const { chainId, token, recipient } = destination
    const reconciledTo = reconciled.of(recipient)
    if (reconciledTo !== last.reconciledTo)
      last = { reconciledTo, lag: lagOf(reconciledTo, head) }
    return {
      chainId,
      token,
      recipient,
      counts: counts?.get(recipient) ?? {},
      reconciledTo,
      lag: last.lag,
      atRisk: atRisk.get(recipient) ?? 0n,
      servedUnpaid: unpaid.get(recipient) ?? 0n,
      putAside: asidesOf(destination),
    }
  })
}

/** Counts the orders of each recipient and token by state. */
async function countOrders(
  { orders }: Pick<StoreReader, 'orders'>,
  destinations: readonly Destination[],
): Promise<ReadonlyMap<string, Counts>> {
  const tokens = new Map<string, Map<Address, DestinationHealth['counts']>>()
  for (const one of await orders.countEach(destinations)) {
    const counts = tokens.get(tokenWord(one)) ?? new Map()
    tokens.set(tokenWord(one), counts)
    const { recipient, state, count } = one
    counts.set(recipient, { ...counts.get(recipient), [state]: count })
  }
  return tokens
}

/**
 * Leases under which a worker serves the destinations of a chain: to watch it,
 * and to charge subscriptions.
 */
const kinds = ['watch', 'schedule'] as const

/**
 * Loads the failed tasks of watching a chain and of charging subscriptions in a
 * token. Returns a function that finds the failures that concern a destination,
 * its token or its chain.
 */
async function loadAsides(
  context: OrdersContext,
  tables: StoreReader,
  token: TokenOf,
): Promise<(destination: Destination) => PutAside[]> {
  const { chainId } = token
  const ofAll: PutAside[] = []
  const own = new Map<string, PutAside[]>()
  for (const kind of kinds) {
    const leaseKey = watchKey(context, { chainId }, kind)
    const ofToken = watchKey(context, token, kind)
    for (const key of [leaseKey, ofToken])
      addAll(ofAll, await loadPutAside(tables, key, leaseKey))
    for (const key of await findAsideKeys(tables, `${ofToken}:`))
      own.set(key, await loadPutAside(tables, key, leaseKey))
  }
  if (own.size === 0) return () => ofAll
  return (destination) =>
    ofAll.concat(
      kinds.flatMap(
        (kind) => own.get(watchKey(context, destination, kind)) ?? [],
      ),
    )
}

/**
 * Sums, by recipient, the payments of a token that were answered while only the
 * pending block showed their capture.
 */
async function sumEarly(
  { orders }: Pick<StoreReader, 'orders'>,
  query: EarlyQuery,
): Promise<ReadonlyMap<Address, bigint>> {
  const sums = new Map<Address, bigint>()
  for (const row of await orders.findEarly(query)) {
    const { recipient, value, captureValue = value } = row
    sums.set(recipient, (sums.get(recipient) ?? 0n) + captureValue)
  }
  return sums
}

async function loadPutAside(
  tables: StoreReader,
  key: string,
  leaseKey: string = key,
): Promise<PutAside[]> {
  const entries = [...(await loadAside(tables, key, leaseKey))]
  if (entries.length === 0) return []
  const ids = entries.map(([what]) => idIn(what))
  const found = await tables.subscriptions.find({ ids })
  const known = new Set(found.map(({ id }) => id))
  return entries.map(([what, entry], at) => {
    const subscriptionId = ids[at]
    return subscriptionId !== undefined && known.has(subscriptionId)
      ? { what, subscriptionId, ...entry }
      : { what, ...entry }
  })
}

/** Returns the id in the name of a task that concerns one. */
function idIn(what: string): string {
  return what.replace(/^(sign:|revocation )/, '').replace(/\t.*$/, '')
}

async function loadSubmitter(
  { owner, recipients }: OrdersContext,
  tables: StoreReader,
  submitter: Submitter,
): Promise<Omit<SubmitterHealth, keyof Funds>> {
  const open = await tables.transactions.find({ inFlight: submitter })
  const waiting = await tables.orders.find({
    sendDue: submitter,
    recipients,
    until: endOfTime,
    limit: mostCounted,
  })
  const value = parseSubmitterValue(
    await tables.getValue(submitterKey(submitter)),
  )
  const held = await tables.getLease(submitterKey(submitter))
  return {
    ...submitter,
    openTransactions: open.length,
    feeTooHigh: waiting.filter(({ reason }) => reason === 'feeTooHigh').length,
    nextDeadline: waiting[0]?.deadline,
    nextNonce: value.nextNonce,
    lease: held && { ...held, thisInstance: held.owner === owner },
    putAside: await loadPutAside(tables, submitterKey(submitter)),
  }
}

/** Most waiting orders to count for a submitter. */
const mostCounted = 1000

/** Reports a submitter whose wallet was removed, if our orders wait for it. */
async function findOrphan(
  context: OrdersContext,
  tables: StoreReader,
  submitter: Submitter,
): Promise<SubmitterHealth[]> {
  const { recipients } = context
  const due = await tables.orders.find({
    sendDue: submitter,
    recipients,
    // Count orders that are due in the future too: they also wait for the
    // wallet.
    until: endOfTime,
    limit: mostCounted,
  })
  const known = await loadSubmitter(context, tables, submitter)
  const sent = await tables.transactions.find({ inFlight: submitter })
  const ids = ordersOf(sent)
  const own = (await tables.orders.find({ ids })).filter((order) =>
    isInDestinations(order, context.destinations),
  )
  // A lease shows that another process still has the wallet and serves the
  // submitter.
  if (known.lease || due.length + own.length === 0) return []
  const fault = `the wallet was removed: ${due.length} orders wait for it, and it has ${own.length} in flight`
  return [
    {
      ...known,
      openTransactions: own.length,
      ...noFunds({ fault, faultKind: 'walletRemoved' }),
    },
  ]
}

function lagOf(
  block: bigint | undefined,
  head: bigint | undefined,
): bigint | undefined {
  return block === undefined || head === undefined ? undefined : head - block
}
