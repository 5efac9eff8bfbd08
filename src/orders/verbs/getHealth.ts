import type { Address } from 'viem'
import { endOnAbort } from '../../chain/rpc/endOnAbort.js'
import { NodeAnswerError, NodeError } from '../../chain/rpc/errors.js'
import {
  getBlockHead,
  readQuantity,
  requestNode,
} from '../../chain/rpc/requestNode.js'
import { getBalance } from '../../chain/state/getBalance.js'
import { orNone } from '../../chain/state/getSubmitterHead.js'
import { CountersignError } from '../../core/CountersignError.js'
import { endOfTime } from '../../store/endOfTime.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  Destination,
  OrderState,
  StoreReader,
  Submitter,
} from '../../store/types.js'
import { findOrphans } from '../model/knownSubmitters.js'
import { loadAside } from '../model/putAside.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import {
  readerOf,
  readSubmitterValue,
  submitterKey,
} from '../submitter/submitterState.js'
import { findFinalityFault } from '../watcher/believeFinality.js'
import { destinationKey, loadCursor } from '../watcher/destinationCursor.js'
import { storeKey } from './openStore.js'

/** How orders, submitters and chains stand. */
export type OrdersHealth = {
  /** Names the physical database. */
  identity: string | undefined
  /** Nothing is sent until `resume`. */
  suspended: boolean
  chains: readonly ChainHealth[]
  destinations: readonly DestinationHealth[]
  submitters: readonly SubmitterHealth[]
}

/** How the view of one chain stands. */
export type ChainHealth = {
  chainId: number
  /** The newest block; absent where the node did not answer. */
  block: bigint | undefined
  /** Unix seconds. */
  time: bigint | undefined
  /**
   * What is wrong with the node. This includes a node without a safe block when
   * `policy.blocks` is not set: then no order is fulfilled.
   */
  fault: string | undefined
  /** The fault as a kind, without the node's words. */
  faultKind: NodeFault | undefined
}

/** What can be wrong with a node, or with a submitter. */
export type NodeFault =
  | 'unreachable'
  | 'timedOut'
  | 'rateLimited'
  /** It answered with an error. */
  | 'refused'
  | 'malformedAnswer'
  /** It names no safe block, and `policy.blocks` is not set. */
  | 'noSafeBlock'
  /** The submitter's wallet was removed, and orders wait for it. */
  | 'walletRemoved'

/** How the orders of one recipient in one token stand. */
export type DestinationHealth = Destination & {
  counts: Partial<Record<OrderState, number>>
  /** Last block before which nothing is missing; absent before the first look. */
  reconciledTo: bigint | undefined
  /** Blocks from there to the newest. */
  lag: bigint | undefined
  /** Parts of the watch that failed and wait for their next try. */
  putAside: readonly PutAside[]
}

/** Something that failed and that a worker tries again after a pause. */
export type PutAside = {
  /**
   * An order's id, or what failed: `submitter`, `sign:` and the id of an order for
   * which the account does not sign, work on an account nonce (`replace nonce
   * 7`), or a part of watching the chain: `watch`, `head`, `finality`,
   * `reorganizations`, `expiry`, `drafts`, `reconciliation`, `fulfilment`,
   * `finalityRaised`.
   */
  what: string
  /** The name of the error. */
  reason: string
  /** Unix milliseconds of the first failure in a row. */
  since: bigint
}

/** How one sending account stands. */
export type SubmitterHealth = {
  chainId: number
  account: Address
  /** Wei. */
  balance: bigint | undefined
  /** Wei per gas. */
  gasPrice: bigint | undefined
  /** Transactions that are not known to be mined. */
  openTransactions: number
  /** Lowest account nonce no transaction of ours has. */
  nextNonce: number
  /** Who works on it; absent while nobody does. */
  lease: SubmitterLease | undefined
  /** Orders that failed and wait for their next try, or the submitter itself. */
  putAside: readonly PutAside[]
  /** What is wrong with the node, or that the wallet was removed. */
  fault: string | undefined
  /** The fault as a kind, without the node's words. */
  faultKind: NodeFault | undefined
}

/** The right of one instance to work on a submitter. */
export type SubmitterLease = {
  /** Names one instance of one process. */
  owner: string
  /** It is the instance that was asked. */
  thisInstance: boolean
  /** Unix milliseconds of the database's clock. */
  until: bigint
}

/**
 * Reads how things stand: orders by state, submitters with what they have for gas
 * and who works on them, and how far each recipient is reconciled. A submitter whose
 * wallet was removed is named as long as something waits for it. Holds no
 * credential.
 *
 * A node that does not answer, within five seconds, is part of the answer, and
 * no error.
 */
export async function getHealth(context: OrdersContext): Promise<OrdersHealth> {
  const { store, tokens, recipients } = context
  const wallets = context.wallets.filter(({ submitter }) =>
    recipients.includes(submitter.account),
  )
  const ids = [...new Set(tokens.map(({ chainId }) => chainId))]
  const [chains, funds, kept] = await Promise.all([
    Promise.all(ids.map((chainId) => readChain(context, chainId))),
    Promise.all(wallets.map((wallet) => readFunds(context, wallet))),
    store.read((tables) => readKept(context, tables, wallets)),
  ])
  const headOf = (chainId: number) =>
    chains.find((chain) => chain.chainId === chainId)?.block
  return {
    identity: kept.identity,
    suspended: kept.suspended,
    chains,
    destinations: kept.destinations.map((destination) => ({
      ...destination,
      lag: lagOf(destination.reconciledTo, headOf(destination.chainId)),
    })),
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

async function readChain(
  context: OrdersContext,
  chainId: number,
): Promise<ChainHealth> {
  try {
    const client = readerOf(context, chainId)
    const [head, safe, finalized] = await inTime(
      Promise.all([
        getBlockHead(client, 'latest'),
        orNone(getBlockHead(client, 'safe')),
        orNone(getBlockHead(client, 'finalized')),
      ]),
    )
    const [block, time] = [head?.number, head?.timestamp]
    const unsure = findFinalityFault(context.policy, { safe, finalized })
    const fault = head ? unsure?.message : 'names no latest block'
    const faultKind = head
      ? unsure && 'noSafeBlock'
      : ('malformedAnswer' as const)
    return { chainId, block, time, fault, faultKind }
  } catch (error) {
    return { chainId, block: undefined, time: undefined, ...faultOf(error) }
  }
}

type Fault = Pick<SubmitterHealth, 'fault' | 'faultKind'>
type Funds = Pick<SubmitterHealth, 'balance' | 'gasPrice'> & Fault

function noFunds(fault: Fault): Funds {
  return { balance: undefined, gasPrice: undefined, ...fault }
}

async function readFunds(
  context: OrdersContext,
  { submitter }: OrderWallet,
): Promise<Funds> {
  const method = 'eth_gasPrice'
  try {
    const client = readerOf(context, submitter.chainId)
    const [balance, price] = await inTime(
      Promise.all([
        getBalance(client, { address: submitter.account, block: 'latest' }),
        requestNode(client, method, []),
      ]),
    )
    const gasPrice = readQuantity(price, method)
    return { balance, gasPrice, fault: undefined, faultKind: undefined }
  } catch (error) {
    return noFunds(faultOf(error))
  }
}

/** Milliseconds a node has to show that it is well. */
const patience = 5000

function inTime<value>(work: Promise<value>): Promise<value> {
  return endOnAbort(work, AbortSignal.timeout(patience))
}

/** Only the words of our own errors are known to be safe to show. */
function faultOf(error: unknown): Fault {
  if (Object(error).name === 'TimeoutError')
    return {
      fault: `no answer in ${patience / 1000} seconds`,
      faultKind: 'timedOut',
    }
  const isOurs = error instanceof CountersignError
  const fault = isOurs ? error.message : 'failed'
  return { fault, faultKind: kindOf(error) }
}

const rateCodes: readonly unknown[] = [429, -32005, -32007, -32016]

function kindOf(error: unknown): NodeFault {
  if (error instanceof NodeAnswerError) return 'malformedAnswer'
  if (!(error instanceof NodeError)) return 'unreachable'
  const { code, status, words } = error.details
  const isLimit = /rate limit|too many requests/i.test(String(words))
  if (isLimit || [code, status].some((it) => rateCodes.includes(it)))
    return 'rateLimited'
  if (/time[d ]*out|^no answer in/i.test(String(words))) return 'timedOut'
  return (code ?? status) === undefined ? 'unreachable' : 'refused'
}

async function readKept(
  context: OrdersContext,
  tables: StoreReader,
  wallets: readonly OrderWallet[],
): Promise<{
  identity: string | undefined
  suspended: boolean
  destinations: Omit<DestinationHealth, 'lag'>[]
  submitters: Omit<SubmitterHealth, keyof Funds>[]
  orphans: SubmitterHealth[]
}> {
  const { destinations, tokens } = context
  const state = Object(await tables.getValue(storeKey))
  const kept: Omit<DestinationHealth, 'lag'>[] = []
  for (const destination of destinations) {
    const cursor = await loadCursor(tables, destination)
    kept.push({
      ...destination,
      counts: await tables.orders.count([destination]),
      reconciledTo: cursor?.last.number,
      putAside: await readPutAside(
        tables,
        destinationKey('watch', destination),
      ),
    })
  }
  const submitters: Omit<SubmitterHealth, keyof Funds>[] = []
  for (const { submitter } of wallets)
    submitters.push(await readSubmitter(context, tables, submitter))
  const orphans: SubmitterHealth[] = []
  for (const chainId of new Set(tokens.map((token) => token.chainId)))
    for (const submitter of await findOrphans(context, tables, chainId))
      orphans.push(...(await readOrphan(context, tables, submitter)))
  return {
    identity: typeof state.identity === 'string' ? state.identity : undefined,
    suspended: state.suspended === true,
    destinations: kept,
    submitters,
    orphans,
  }
}

async function readPutAside(
  tables: StoreReader,
  key: string,
): Promise<PutAside[]> {
  const entries = await loadAside(tables, key)
  return [...entries].map(([what, entry]) => ({ what, ...entry }))
}

async function readSubmitter(
  { owner }: OrdersContext,
  tables: StoreReader,
  submitter: Submitter,
): Promise<Omit<SubmitterHealth, keyof Funds>> {
  const open = await tables.transactions.find({ inFlight: submitter })
  const value = readSubmitterValue(
    await tables.getValue(submitterKey(submitter)),
  )
  const held = await tables.getLease(submitterKey(submitter))
  return {
    ...submitter,
    openTransactions: open.length,
    nextNonce: value.nextNonce,
    lease: held && { ...held, thisInstance: held.owner === owner },
    putAside: await readPutAside(tables, submitterKey(submitter)),
  }
}

/** Most waiting orders to count on a submitter whose wallet was removed. */
const mostCounted = 1000

/** Reports a submitter whose wallet was removed if orders of ours wait for it. */
async function readOrphan(
  context: OrdersContext,
  tables: StoreReader,
  submitter: Submitter,
): Promise<SubmitterHealth[]> {
  const { recipients } = context
  const due = await tables.orders.find({
    sendDue: submitter,
    recipients,
    // Orders that are due later wait for the wallet too.
    until: endOfTime,
    limit: mostCounted,
  })
  const known = await readSubmitter(context, tables, submitter)
  const sent = await tables.transactions.find({ inFlight: submitter })
  const ids = [...new Set(sent.flatMap(({ orderId }) => orderId ?? []))]
  const own = (await tables.orders.find({ ids })).filter((order) =>
    isInDestinations(order, context.destinations),
  )
  // With a lease, another process still has the wallet and uses it.
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
